// A web server for one person, on 127.0.0.1: the page, and answers to what it asks.
//
//   GET  /      the page. It holds no secret, so anyone on this machine may read it.
//   POST /menu  what can be asked, as JSON.
//   POST /ask   a question as JSON (question.h). The answer comes in lines of JSON while it is
//               computed: {"progress": ["layer", 3, 12]}, {"text": "so far"}, and at the end
//               {"page": {...}} or {"error": "one sentence"}.
// rules.h says who may ask. One question is computed at a time, in the order in which they came; it
// is cancelled when the connection closes.
#pragma once
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "server/answerer.h"

namespace headwater::server {

struct Limits {
  size_t heading = 8 << 10;  // bytes before the body
  size_t body = 64 << 20;    // bytes
  // How long a client may take.
  std::chrono::milliseconds to_ask{
      10'000};  // from its connection, or its last answer, to a heading
  std::chrono::milliseconds to_send{30'000};  // the body
  std::chrono::milliseconds to_take{30'000};  // each part of the answer
  /// Open at once. One more closes the one that has waited longest for its request.
  size_t connections = 128;
};

struct ServerOptions {
  int port = 0;              // 0: any free one
  bool or_any_port = false;  // if `port` is taken
  /// An interrupt (Ctrl-C) or SIGTERM ends run(), unless it is ignored; a second one ends the
  /// process.
  bool stop_on_signals = false;
  Limits limits = {};
};

class Server {
 public:
  /// Listens. The answerer must outlive the server. Throws Error if the port is taken.
  Server(Answerer& answerer, const ServerOptions& options);
  /// Cancels the current computation, and waits until it has ended.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  /// The address to open, with the token.
  std::string url() const;

  /// Serves until stop(). Exceptions of the answerer other than Error are sent as an answer, too.
  void run();
  /// Ends run(), from any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headwater::server
