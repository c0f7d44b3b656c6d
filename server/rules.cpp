#include "server/rules.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "headwater/core/fail.h"

namespace headwater::server {
namespace {

// Takes the same time for a nearly correct token as for a wrong one.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differences = 0;
  for (size_t k = 0; k < a.size(); ++k) differences |= static_cast<unsigned char>(a[k] ^ b[k]);
  return differences == 0;
}

bool is_only(const std::vector<std::string>& values, std::string_view wanted) {
  return values.size() == 1 && values[0] == wanted;
}

// With or without a character set after it.
bool is_json(const std::vector<std::string>& types) {
  constexpr std::string_view wanted = "application/json";
  return types.size() == 1 && types[0].starts_with(wanted) &&
         (types[0].size() == wanted.size() || types[0][wanted.size()] == ';');
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    fail("the system gave no random bytes, expected 16 for the server's token; try again");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Rules::Rules(int port, std::string token)
    : host_(port == 80 ? "127.0.0.1" : fmt::format("127.0.0.1:{}", port)),
      origin_("http://" + host_),
      token_(std::move(token)) {}

std::optional<Refusal> Rules::refuse(const Heading& heading) const {
  if (!is_only(heading.hosts, host_))
    return Refusal{403,
                   fmt::format("The Host of the request is not {}, where the server is.", host_)};
  const bool page = heading.place == page_place;
  if (!page && heading.place != menu_place && heading.place != ask_place)
    return Refusal{404, "There is nothing here. The page is at /."};
  if (heading.method != (page ? "GET" : "POST"))
    return Refusal{405, fmt::format("{} takes {} alone.", heading.place, page ? "GET" : "POST")};
  if (page) return {};
  if (!is_only(heading.origins, origin_))
    return Refusal{403, fmt::format("The Origin of the request is not {}.", origin_)};
  if (!is_json(heading.types))
    return Refusal{415, "The Content-Type of the request is not application/json."};
  if (heading.tokens.size() != 1 || !same_secret(heading.tokens[0], token_))
    return Refusal{
        401,
        "The request does not have this server's token. Open the address that the server "
        "printed when it started."};
  return {};
}

}  // namespace headwater::server
