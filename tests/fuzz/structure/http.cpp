#include "tests/fuzz/structure/http.h"

#include <algorithm>
#include <string>

#include "tests/fuzz/structure/json.h"

namespace headwater::fuzz {
namespace {

std::string any_field(Chance& chance) {
  static constexpr const char* known[] = {"Host: 127.0.0.1:PORT",
                                          "Host: localhost:PORT",
                                          "Origin: http://127.0.0.1:PORT",
                                          "Origin: null",
                                          "X-Headwater-Token: TOKEN",
                                          "X-Headwater-Token: ",
                                          "Content-Type: application/json",
                                          "Content-Type: application/json; charset=utf-8",
                                          "Content-Type: text/plain",
                                          "Connection: keep-alive",
                                          "Connection: close",
                                          "Connection: Upgrade",
                                          "Upgrade: websocket",
                                          "Expect: 100-continue",
                                          "Transfer-Encoding: chunked",
                                          "Transfer-Encoding: gzip, chunked",
                                          "Content-Length: 0",
                                          "Content-Length: 1",
                                          "Content-Length: 18446744073709551615",
                                          "Content-Length: -1",
                                          "Content-Encoding: gzip",
                                          "Range: bytes=0-1",
                                          "Cookie: a=b",
                                          " folded",
                                          "X: \xff\xfe",
                                          "TE: trailers",
                                          "Trailer: Host"};
  return chance.pick(known);
}

std::string first_line(Chance& chance) {
  static constexpr const char* methods[] = {"GET",     "POST", "HEAD", "OPTIONS", "PUT",
                                            "CONNECT", "get",  "PRI",  "TRACE"};
  static constexpr const char* places[] = {
      "/",    "/menu",   "/ask",    "*",      "//",
      "/../", "/menu?x", "/%6denu", "/ask#x", "http://127.0.0.1:PORT/ask",
      ""};
  static constexpr const char* versions[] = {"HTTP/1.1", "HTTP/1.0", "HTTP/2.0",
                                             "HTTP/0.9", "HTTP/1.2", ""};
  return std::string(chance.pick(methods)) + " " + chance.pick(places) + " " +
         chance.pick(versions);
}

std::string chunked(std::string_view body, Chance& chance) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  while (!body.empty()) {
    const size_t size = std::min<size_t>(1 + chance.below(15), body.size());
    out += std::string(1, digits[size]) + (chance.one_in(8) ? ";x=y" : "") + "\r\n" +
           std::string(body.substr(0, size)) + "\r\n";
    body.remove_prefix(size);
  }
  return out + "0\r\n\r\n";
}

}  // namespace

Change http_change(std::string_view words) {
  return [words](std::string_view input, Chance& chance) {
    const size_t end = std::min(input.find("\r\n\r\n"), input.size());
    std::string body(input.substr(std::min(end + 4, input.size())));
    std::vector<std::string> lines;
    for (size_t at = 0; at < end;) {
      const size_t stop = std::min(input.find("\r\n", at), end);
      lines.emplace_back(input.substr(at, stop - at));
      at = stop + 2;
    }
    if (lines.empty()) lines.emplace_back("POST /ask HTTP/1.1");
    bool sized = !chance.one_in(6);
    switch (chance.below(7)) {
      case 0:
        lines[0] = first_line(chance);
        break;
      case 1:
        lines.push_back(any_field(chance));
        break;
      case 2:
        change_list(lines, chance, [&](std::string& line) {
          line = chance.one_in(2) ? any_field(chance) : changed_bytes(line, chance);
        });
        break;
      case 3:
        if (input.size() < 4096) body += input;  // another request behind it
        sized = false;
        break;
      case 4: {
        std::erase_if(lines,
                      [](const std::string& line) { return line.starts_with("Content-Length"); });
        lines.emplace_back("Transfer-Encoding: chunked");
        body = chunked(body, chance);
        sized = false;
        break;
      }
      default:
        body = changed_json(body, chance, words);
    }
    std::string out;
    for (const std::string& line : lines) {
      const bool length = sized && line.starts_with("Content-Length");
      out += (length ? "Content-Length: " + std::to_string(body.size()) : line) + "\r\n";
    }
    return out + "\r\n" + body;
  };
}

}  // namespace headwater::fuzz
