#include "server/server.h"

#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "headwater/core/fail.h"
#include "server/connection.h"

namespace headwater::server {
namespace {

std::string page_text() {
  std::string text;
  write_server_page([&](std::string_view bytes) { text += bytes; });
  return text;
}

tcp::acceptor listen_on(asio::io_context& context, const ServerOptions& options) {
  const auto try_port = [&](int port) {
    const tcp::endpoint here(asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port));
    return tcp::acceptor(context, here);  // it may use the address again at once
  };
  try {
    return try_port(options.port);
  } catch (const boost::system::system_error& error) {
    if (options.or_any_port) return try_port(0);
    if (error.code() == boost::system::errc::too_many_files_open) throw;
    fail("port {}: could not be opened ({}), expected one that is free; choose another with `port`",
         options.port, error.code().message());
  }
}

}  // namespace

struct Server::State {
  State(Answerer& answerer, const ServerOptions& options)
      : limits(options.limits),
        token(new_token()),
        page(page_text()),
        acceptor(listen_on(context, options)),
        port(acceptor.local_endpoint().port()),
        rules(port, token),
        shared{context, answerer, rules, limits, page, worker} {}

  void accept() {
    acceptor.async_accept([this](Code code, tcp::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (code) {  // no file descriptors left: some will be closed soon
        pause.expires_after(std::chrono::milliseconds(100));
        pause.async_wait([this](Code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      make_room();
      Code ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      const auto connection = std::make_shared<Connection>(std::move(socket), shared);
      shared.connections.push_back(connection);
      connection->read_heading();
      accept();
    });
  }

  // A server that could accept nobody would leave its first caller waiting forever.
  void check_room_for_a_connection() { tcp::socket(context).open(tcp::v4()); }

  // The connection that has waited longest for its request makes room for a new one.
  void make_room() {
    std::erase_if(shared.connections, [](const auto& one) { return one.expired(); });
    if (shared.connections.size() < limits.connections) return;
    std::shared_ptr<Connection> oldest;
    for (const auto& one : shared.connections) {
      const auto connection = one.lock();
      if (connection->waits() && (!oldest || connection->since() < oldest->since()))
        oldest = connection;
    }
    if (oldest) oldest->close();
  }

  void stop_on_signals() {
    signals.emplace(context);
    for (const int number : {SIGINT, SIGTERM}) {
      struct sigaction now = {};
      sigaction(number, nullptr, &now);
      if (now.sa_handler != SIG_IGN) signals->add(number);
    }
    signals->async_wait([this](Code code, int) {
      if (code) return;
      signals->clear();
      context.stop();
    });
  }

  Limits limits;
  std::string token, page;
  asio::io_context context{1};
  tcp::acceptor acceptor;
  int port;
  Rules rules;
  asio::steady_timer pause{context};
  std::optional<asio::signal_set> signals{};
  Shared shared;
  Worker worker{};  // ends before everything that its jobs use
};

Server::Server(Answerer& answerer, const ServerOptions& options) try
    : state_(std::make_unique<State>(answerer, options)) {
  if (options.stop_on_signals) state_->stop_on_signals();
  state_->check_room_for_a_connection();
  state_->accept();
} catch (const boost::system::system_error& error) {
  fail(
      "the server could not start ({}), expected some files to open besides its own; raise the "
      "limit with ulimit -n",
      error.code().message());
}

Server::~Server() {
  for (const auto& one : state_->shared.connections)
    if (const auto connection = one.lock()) connection->close();
}

int Server::port() const { return state_->port; }

std::string Server::url() const {
  return fmt::format("{}/#token={}", state_->rules.origin(), state_->token);
}

void Server::run() { state_->context.run(); }

void Server::stop() { state_->context.stop(); }

}  // namespace headwater::server
