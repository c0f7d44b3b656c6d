// A request to the server, over a socket: any bytes are answered, refused or dropped, and only
// those with the token reach what answers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "server/server.h"
#include "tests/fuzz/structure/http.h"

namespace {

using namespace headwater::server;

class Answers : public Answerer {
 public:
  std::string menu() override { return "{}"; }
  std::string answer(const Question& question, Listener& listener) override {
    listener.progress("step", 1, 2);
    return "{\"length\": " + std::to_string(command_of(question, false).size()) + "}";
  }
};

// One server for all inputs, in a thread that ends with the process.
struct Served {
  Answers answers;
  Server server{answers, options()};
  std::string port = std::to_string(server.port());
  std::string token = server.url().substr(server.url().find("token=") + 6);
  std::thread thread{[this] { server.run(); }};

  static ServerOptions options() {
    ServerOptions out;
    out.limits.heading = 2048;
    out.limits.body = 4096;
    out.limits.to_ask = out.limits.to_send = std::chrono::milliseconds(50);
    return out;
  }
};

void replace_all(std::string& text, std::string_view part, std::string_view by) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
}

[[noreturn]] void die(const char* why) {
  std::perror(why);
  std::abort();
}

// connect(), also where libFuzzer's timer interrupts it: the connection is then made all the same.
bool connects(int client, const sockaddr_in& address) {
  if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return true;
  if (errno != EINTR) return false;
  pollfd ready{client, POLLOUT, 0};
  while (poll(&ready, 1, -1) < 0)
    if (errno != EINTR) die("poll");
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(client, SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

int connected(int port) {
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{8, 0};
  setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  // Closed by a reset: thousands of connections a second would use up the ports otherwise.
  const linger at_once{1, 0};
  setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int tries = 0; tries < 100; ++tries) {
    if (connects(client, address)) return client;
    if (errno != EADDRNOTAVAIL) die("connect");
    usleep(100'000);  // those that the server closed keep their ports for a minute
  }
  die("no port");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Served& served = *new Served;
  std::string request(reinterpret_cast<const char*>(data), size);
  const bool has_token = request.find("TOKEN") != std::string::npos;
  replace_all(request, "PORT", served.port);
  replace_all(request, "TOKEN", served.token);

  const int client = connected(served.server.port());
  if (send(client, request.data(), request.size(), MSG_NOSIGNAL) < 0 && errno != EPIPE &&
      errno != ECONNRESET)
    die("send");
  // Clients that say that they are done, and clients that wait.
  if (size % 4 != 0) shutdown(client, SHUT_WR);
  std::string answer(1 << 16, '\0');
  ssize_t count = -1;
  do count = recv(client, answer.data(), answer.size(), 0);
  while (count < 0 && errno == EINTR);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) die("it never answered");
  answer.resize(count > 0 ? static_cast<size_t>(count) : 0);
  if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) die("no HTTP");
  // Only what answers sends lines of JSON.
  if (!has_token && answer.find("ndjson") != std::string::npos) die("answered without the token");
  close(client);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return headwater::fuzz::mutate(
      data, size, most, seed,
      headwater::fuzz::http_change(
          "model method text row fuse residual discard rollout flow mean max facts cls"));
}
