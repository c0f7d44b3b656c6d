// One client of the server, over HTTP. Only server.cpp includes this: Boost takes longer to compile
// than the rest of the server.
#pragma once
#include <fmt/format.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <deque>
#include <list>
#include <optional>
#include <sstream>

#include "headwater/output/json.h"
#include "headwater/output/page/page.h"
#include "server/rules.h"
#include "server/server.h"
#include "server/worker.h"

namespace headwater::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Code = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Response = http::response<http::string_body>;

constexpr const char* token_name = "X-Headwater-Token";

class Connection;

// What all connections share. Except for `ends`, all of it belongs to the thread of run().
struct Shared {
  asio::io_context& context;
  Answerer& answerer;
  const Rules& rules;
  const Limits& limits;
  const std::string& page;
  Worker& worker;
  std::list<std::weak_ptr<Connection>> connections{};
};

template <class Fields>
std::vector<std::string> all_of(const Fields& fields, beast::string_view name) {
  std::vector<std::string> out;
  const auto [begin, end] = fields.equal_range(name);
  for (auto field = begin; field != end; ++field)
    out.emplace_back(field->value().data(), field->value().size());
  return out;
}

inline Heading heading_of(const http::request<http::string_body>& request) {
  const auto text = [](beast::string_view view) { return std::string(view.data(), view.size()); };
  return {text(request.method_string()), text(request.target()),
          all_of(request, "Host"),       all_of(request, "Origin"),
          all_of(request, token_name),   all_of(request, "Content-Type")};
}

inline std::string line_of(const char* name, Value value) {
  Document line;
  line.fields.push_back({name, std::move(value)});
  return json_line(line) + "\n";
}

// One client. It reads a request, answers it, and reads the next.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {}
  ~Connection() { gone_ = true; }

  void read_heading() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.heading));
    parser_->body_limit(shared_.limits.body);
    since_ = Clock::now();
    waits_ = true;
    stream_.expires_after(shared_.limits.to_ask);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](Code code, size_t) { self->take_heading(code); });
  }

  /// Whether it is still sending its request, and since when.
  bool waits() const { return waits_; }
  Clock::time_point since() const { return since_; }

  void close() {
    gone_ = true;
    Code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void take_heading(Code code) {
    if (code) return refuse_unreadable(code);
    if (const auto refusal = shared_.rules.refuse(heading_of(parser_->get())))
      return refuse(refusal->status, refusal->sentence);
    if (parser_->get().target() == page_place) {
      Response response(http::status::ok, 11, shared_.page);
      response.set(http::field::content_type, "text/html; charset=utf-8");
      return send(std::move(response), server_page_policy(), parser_->get().keep_alive());
    }
    stream_.expires_after(shared_.limits.to_send);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Code code, size_t) { self->take_body(code); });
  }

  void take_body(Code code) {
    if (code) return refuse_unreadable(code);
    waits_ = false;
    begin_answer();
    const bool menu = parser_->get().target() == menu_place;
    const bool taken = shared_.worker.add(
        [self = shared_from_this(), menu, body = std::move(parser_->get().body())]() mutable {
          answer(std::move(self), menu, body);
        });
    if (!taken) {
      add(line_of("error", std::string("too many questions wait, expected fewer; ask again")));
      end();
    }
  }

  // ---- the answer to a question, line by line

  // On the worker's thread; everything else is on the thread of run().
  class Reporter : public Listener {
   public:
    explicit Reporter(Connection& connection) : connection_(connection) {}
    void progress(std::string_view what, int64_t done, int64_t total) override {
      check();
      const Clock::time_point now = Clock::now();
      if (now - last_ < std::chrono::milliseconds(50)) return;
      last_ = now;
      connection_.report(fmt::format("{{\"progress\": [\"{}\", {}, {}]}}\n", what, done, total));
    }
    void text(const std::string& so_far) override {
      check();
      connection_.report(line_of("text", so_far));
    }

   private:
    void check() const {
      if (connection_.gone_) throw Cancelled();
    }
    Connection& connection_;
    Clock::time_point last_ = Clock::now();
  };

  // Gives `self` back to the other thread: only that one may end a connection.
  static void answer(std::shared_ptr<Connection> self, bool menu, const std::string& body) {
    std::string line;
    try {
      Reporter reporter(*self);
      if (self->gone_) throw Cancelled();
      Answerer& answerer = self->shared_.answerer;
      line = menu ? answerer.menu() + "\n"
                  : "{\"page\": " + answerer.answer(parse_question(body), reporter) + "}\n";
    } catch (const Cancelled&) {
    } catch (const std::bad_alloc&) {
      line = line_of("error", std::string("out of memory, expected room for a few n x n matrices; "
                                          "ask for a single row, or about a shorter text"));
    } catch (const std::exception& error) {
      line = line_of("error", std::string(error.what()));
    }
    asio::io_context& context = self->shared_.context;
    asio::post(context, [self = std::move(self), line = std::move(line)]() mutable {
      self->add(std::move(line));
      self->end();
    });
  }

  void report(std::string line) {
    asio::post(shared_.context, [self = shared_from_this(), line = std::move(line)]() mutable {
      self->add(std::move(line));
    });
  }

  void begin_answer() {
    http::response<http::empty_body> head(http::status::ok, 11);
    head.set(http::field::content_type, "application/x-ndjson");
    set_common(head, "default-src 'none'; frame-ancestors 'none'");
    head.chunked(true);
    head.keep_alive(false);
    std::ostringstream text;
    text << head.base();
    now_ = text.str();
    writes_ = true;
    stream_.expires_after(shared_.limits.to_take);
    asio::async_write(stream_, asio::buffer(now_),
                      [self = shared_from_this()](Code code, size_t) { self->wrote(code); });
    // A client that leaves closes its side, which only a read notices.
    stream_.socket().async_wait(tcp::socket::wait_read, [self = shared_from_this()](Code code) {
      char byte = 0;
      Code closed;
      if (!code && self->stream_.socket().is_open())
        self->stream_.socket().receive(asio::buffer(&byte, 1), tcp::socket::message_peek, closed);
      if (code || closed) self->gone_ = true;
    });
  }

  void add(std::string line) {
    if (gone_) return;
    lines_.push_back(std::move(line));
    write_next();
  }
  void end() {
    ends_ = true;
    write_next();
  }

  void write_next() {
    if (writes_ || gone_) return;
    if (lines_.empty()) {
      if (!ends_) return stream_.expires_never();
      writes_ = true;
      stream_.expires_after(shared_.limits.to_take);
      asio::async_write(stream_, http::make_chunk_last(),
                        [self = shared_from_this()](Code, size_t) { self->finish(); });
      return;
    }
    writes_ = true;
    now_ = std::move(lines_.front());
    lines_.pop_front();
    stream_.expires_after(shared_.limits.to_take);
    asio::async_write(stream_, http::make_chunk(asio::buffer(now_)),
                      [self = shared_from_this()](Code code, size_t) { self->wrote(code); });
  }
  void wrote(Code code) {
    writes_ = false;
    if (code) return close();
    write_next();
  }

  // ---- other responses

  template <class Fields>
  static void set_common(Fields& fields, const std::string& policy) {
    fields.set("Content-Security-Policy", policy);
    fields.set("X-Content-Type-Options", "nosniff");
    fields.set("X-Frame-Options", "DENY");
    fields.set("Referrer-Policy", "no-referrer");
    fields.set("Cross-Origin-Resource-Policy", "same-origin");
    fields.set("Cross-Origin-Opener-Policy", "same-origin");
    fields.set(http::field::cache_control, "no-store");
  }

  void refuse_unreadable(Code code) {
    if (code == http::error::header_limit)
      return refuse(431,
                    fmt::format("The heading has more than {} bytes.", shared_.limits.heading));
    if (code == http::error::body_limit)
      return refuse(413, fmt::format("The question has more than {} bytes.", shared_.limits.body));
    // Timeouts, and clients that have left: nobody would read an answer.
    const bool is_http = code.category() == http::make_error_code(http::error{}).category();
    if (!is_http || code == http::error::end_of_stream || code == http::error::partial_message)
      return close();
    refuse(400, "The request is not HTTP.");
  }

  void refuse(int status, const std::string& sentence) {
    Response response(static_cast<http::status>(status), 11, sentence + "\n");
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    send(std::move(response), "default-src 'none'; frame-ancestors 'none'", false);
  }

  void send(Response response, const std::string& policy, bool keep_alive) {
    waits_ = false;
    set_common(response, policy);
    response.keep_alive(keep_alive);
    response.prepare_payload();
    auto kept = std::make_shared<Response>(std::move(response));
    stream_.expires_after(shared_.limits.to_take);
    http::async_write(stream_, *kept,
                      [self = shared_from_this(), kept, keep_alive](Code code, size_t) {
                        if (code) return self->close();
                        if (keep_alive) return self->read_heading();
                        self->finish();
                      });
  }

  // Says that nothing follows, and waits until the client has read that: closing at once, with
  // bytes of the request unread, could make it lose the response.
  void finish() {
    Code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    waits_ = true;
    since_ = Clock::now();
    stream_.expires_after(std::chrono::seconds(2));
    drain();
  }
  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](Code code, size_t) {
      if (code) return self->close();
      self->drain();
    });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool waits_ = true;
  Clock::time_point since_ = Clock::now();
  std::atomic<bool> gone_ = false;  // read by the worker
  bool writes_ = false, ends_ = false;
  std::deque<std::string> lines_;
  std::string now_;  // the line that is being written
};

}  // namespace headwater::server
