// Which requests the server looks at.
//
// The server listens on 127.0.0.1, where every page that the browser has open can send requests,
// and so can every program of the machine. So:
//   Host       exactly the server's own address: a name that an attacker points at 127.0.0.1 (DNS
//              rebinding) is not it.
//   Origin     of a POST exactly the server's own, and its type application/json, which a form of
//              another page cannot send.
// token      128 random bits in a header. The address that the server prints has them after #,
// which browsers never send. There are no cookies: other ports would share them.
//   place      the page, and two things to ask for. No part of a request is ever a path.
// No response allows another origin to read it, and none may be shown in a frame.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headwater::server {

/// The parts of a request that the rules read.
struct Heading {
  std::string method, place;         // "GET", "/"
  std::vector<std::string> hosts;    // every Host that was sent
  std::vector<std::string> origins;  // every Origin
  std::vector<std::string> tokens;   // every X-Headwater-Token
  std::vector<std::string> types;    // every Content-Type
};

struct Refusal {
  int status = 400;      // as HTTP has them
  std::string sentence;  // what was found, what was expected
};

/// 128 bits that nobody can guess, as 32 hexadecimal digits. Throws Error if the system has none.
std::string new_token();

class Rules {
 public:
  Rules(int port, std::string token);
  /// Why the request is refused; none if it is not.
  std::optional<Refusal> refuse(const Heading& heading) const;
  /// "http://127.0.0.1:8020".
  const std::string& origin() const { return origin_; }

 private:
  std::string host_, origin_, token_;
};

/// The places that a request may name.
inline constexpr std::string_view page_place = "/", menu_place = "/menu", ask_place = "/ask";

}  // namespace headwater::server
