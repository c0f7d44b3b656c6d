#include "headwater/output/page/page.h"

#include <fmt/format.h>

#include "headwater/core/version.h"
#include "headwater/output/json.h"
#include "headwater/output/page/base64.h"
#include "headwater/output/page/bundle.h"
#include "headwater/output/page/contents.h"
#include "headwater/output/page/gzip.h"
#include "headwater/output/page/remarks.h"
#include "headwater/output/page/scripts.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

// Inside a script element nothing is a character reference, and "</script" or "<!--" would end it.
// These characters only occur in JSON's strings, where they may be escaped.
std::string inside_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// The parts of a page, for results or for a server.
struct Shell {
  std::vector<BuiltFile> scripts, styles;
  const char *may_connect, *promise;  // for its policy, and to those without JavaScript
};
Shell own_page(const std::vector<Document>& items) {
  std::vector<BuiltFile> scripts, styles{built_file("style.css")};
  for (const std::string& name : page_scripts(items)) {
    scripts.push_back(built_file(name));
    for (const std::string_view part :
         {"picture", "patches", "several", "layers", "arcs", "tables"})
      if (name == fmt::format("{}.js", part))
        styles.push_back(built_file(fmt::format("{}.css", part)));
  }
  return {std::move(scripts), std::move(styles), "",
          " Nothing leaves the page: its security policy allows no request."};
}
Shell server_page() {
  return {{built_file("server.js")}, {built_file("server.css")}, "connect-src 'self'; ", ""};
}

std::string hashes(const std::vector<BuiltFile>& files) {
  std::string out;
  for (const BuiltFile& file : files) out += fmt::format(" 'sha256-{}'", file.hash);
  return out;
}

std::string policy(const Shell& shell) {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'{}; style-src{}; {}"
      "worker-src data:; img-src data:; base-uri 'none'; form-action 'none'",
      built_file("loader.js").hash, hashes(shell.scripts), hashes(shell.styles), shell.may_connect);
}

std::string text_of(const Document& document, std::string_view name) {
  const Field* field = document.find(name);
  return field ? std::get<std::string>(field->value) : "";
}

std::string title_for(const std::vector<Document>& items) {
  if (items.size() == 1) return text_of(items[0], "title");
  return fmt::format("{} results", items.size());
}

void write_shell(const Shell& shell, const std::string& title, const std::string& data,
                 const Sink& sink) {
  sink("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
  sink(
      fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", policy(shell)));
  sink("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  sink("<meta name=\"color-scheme\" content=\"light dark\">\n");
  sink(fmt::format("<meta name=\"generator\" content=\"headwater {}\">\n", version()));
  sink(fmt::format("<title>{}</title>\n", html_text(title)));
  for (const BuiltFile& style : shell.styles) {
    sink("<style>");
    sink(style.text);
    sink("</style>\n");
  }
  sink("</head>\n<body>\n<noscript>This page draws with JavaScript, which is off here.");
  sink(shell.promise);
  sink("</noscript>\n<div id=\"app\"></div>\n<script type=\"application/json\" id=\"data\">");
  sink(inside_script(data));
  for (const BuiltFile& script : shell.scripts) {
    sink("</script>\n<script type=\"text/plain\">");
    sink(base64_of(gzip_of(script.text)));
  }
  sink("</script>\n<script>");
  sink(built_file("loader.js").text);
  sink("</script>\n</body>\n</html>\n");
}

Document data_of(const std::vector<ResultView>& results, const WriteOptions& options) {
  std::vector<Document> items;
  for (const ResultView result : results) {
    Document& item = items.emplace_back(page_contents(result, options));
    if (items.size() <= options.abouts.size())
      item.fields.push_back({"about", options.abouts[items.size() - 1]});
    if (items.size() <= options.commands.size())
      item.fields.push_back({"command", options.commands[items.size() - 1]});
    const Field* own = item.find("command");
    if (std::string how =
            how_to_get_layers(item, own ? std::get<std::string>(own->value) : options.command);
        !how.empty())
      item.fields.push_back({"no_layers", std::move(how)});
  }
  if (!options.title.empty() && items.size() == 1)
    for (Field& field : items[0].fields)
      if (field.name == "title") field.value = harmless(options.title);
  Document data;
  data.fields = {{"headwater", std::string(version())}, {"command", options.command}};
  data.fields.push_back({"items", std::move(items)});
  return data;
}

}  // namespace

void write_page(const std::vector<ResultView>& results, const WriteOptions& options,
                const Sink& sink) {
  const Document data = data_of(results, options);
  const auto& items = std::get<std::vector<Document>>(data.find("items")->value);
  const std::string title = options.title.empty() ? title_for(items) : harmless(options.title);
  write_shell(own_page(items), title, json_line(data), sink);
}

std::string page_data(const std::vector<ResultView>& results, const WriteOptions& options) {
  return json_line(data_of(results, options));
}

void write_server_page(const Sink& sink) { write_shell(server_page(), "headwater", "{}", sink); }

std::string server_page_policy() { return policy(server_page()) + "; frame-ancestors 'none'"; }

}  // namespace headwater
