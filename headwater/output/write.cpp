#include "headwater/output/write.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "headwater/core/fail.h"
#include "headwater/core/output_file.h"
#include "headwater/core/utf8.h"
#include "headwater/output/json.h"
#include "headwater/output/npy.h"
#include "headwater/output/npz.h"
#include "headwater/output/page/page.h"
#include "headwater/output/picture/layout.h"
#include "headwater/output/picture/picture.h"
#include "headwater/result/token_text.h"

namespace headwater {
namespace {

using Results = std::vector<ResultView>;

bool is_list(const Results& results, const WriteOptions& options) {
  return options.list || results.size() != 1;
}

std::vector<Document> documents_of(const Results& results, const WriteOptions& options) {
  std::vector<Document> out;
  for (const ResultView result : results) out.push_back(document_of(result, options));
  return out;
}

void put_json(const Results& results, const WriteOptions& options, const Sink& sink) {
  const std::vector<Document> documents = documents_of(results, options);
  if (is_list(results, options))
    write_json(documents, sink);
  else
    write_json(documents.front(), sink);
}

template <class Put>
void write_file(const std::string& path, Put put) {
  OutputFile file(path);
  put([&](std::string_view bytes) { file.write(bytes); });
  file.commit();
}

void write_json_file(const Results& results, const std::string& path, const WriteOptions& options) {
  write_file(path, [&](const Sink& sink) { put_json(results, options, sink); });
}

void write_npy_file(const Results& results, const std::string& path, const WriteOptions& options) {
  const bool list = is_list(results, options);
  write_file(
      path, [&](const Sink& sink) { write_npy(documents_of(results, options), list, path, sink); });
}

void write_npz_file(const Results& results, const std::string& path, const WriteOptions& options) {
  const bool list = is_list(results, options);
  write_file(
      path, [&](const Sink& sink) { write_npz(documents_of(results, options), list, path, sink); });
}

void write_page_file(const Results& results, const std::string& path, const WriteOptions& options) {
  write_file(path, [&](const Sink& sink) { write_page(results, options, sink); });
}

// x.png and 3 make x-3.png.
std::string numbered(const std::string& path, size_t k) {
  std::filesystem::path place(path);
  const std::string name =
      fmt::format("{}-{}{}", place.stem().string(), k, place.extension().string());
  return place.replace_filename(name).string();
}

std::string missing_text(const std::set<char32_t>& missing) {
  constexpr size_t named = 5;
  std::vector<std::string> some;
  for (const char32_t c : missing) {
    if (some.size() == named) break;
    some.push_back(fmt::format("{} (U+{:04X})", to_utf8(std::u32string_view(&c, 1)),
                               static_cast<uint32_t>(c)));
  }
  return fmt::format(
      "no font here has {}{}, drawn as boxes; install one that does, such as fonts-noto-cjk, "
      "or use .svg",
      fmt::join(some, ", "),
      missing.size() > named ? fmt::format(" and {} more characters", missing.size() - named) : "");
}

// A picture has no room for them.
std::vector<std::string> notes_of_result(ResultView result) {
  return result.visit([](const auto& one) -> std::vector<std::string> {
    if constexpr (requires { one.panels; }) {
      std::vector<std::string> notes;
      for (const Attribution& panel : one.panels)
        for (const std::string& note : panel.notes) {
          const std::string text = fmt::format("{}: {}", panel.label, note);
          if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
        }
      return notes;
    } else {
      return one.notes;
    }
  });
}

using Paint = std::string(const Scene&, Typesetter&, const std::string& path);

template <Paint paint>
void write_pictures(const Results& results, const std::string& path, const WriteOptions& options) {
  const bool list = is_list(results, options);
  for (size_t k = 0; k < results.size(); ++k) {
    const std::string name = list ? numbered(path, k) : path;
    // Figures first: a result without a picture fails with its own error, with or without fonts.
    Figure figure = figure_of(results[k], options.filter, name);
    if (!options.title.empty()) figure.title = harmless(options.title);
    if (options.colours != Ramp::viridis &&
        (figure.has_signs || std::holds_alternative<Curves>(figure.body)))
      fail_usage(
          "{}: has {}, which have colours of their own, expected cells for `colours`; leave "
          "it out",
          name, figure.has_signs ? "values with signs" : "curves");
    figure.ramp = options.colours;
    Typesetter typesetter;
    const std::string bytes = paint(layout(std::move(figure), typesetter), typesetter, name);
    write_file(name, [&](const Sink& sink) { sink(bytes); });
    if (!options.warn) continue;
    // The fonts for an .svg are those of its reader.
    if (!typesetter.missing().empty() && paint != svg_of)
      options.warn(name, missing_text(typesetter.missing()));
    for (const std::string& note : notes_of_result(results[k])) options.warn(name, "note: " + note);
  }
}

struct Format {
  std::string_view ending;
  void (*write)(const Results&, const std::string& path, const WriteOptions&);
};

constexpr Format formats[] = {
    {".json", write_json_file},       {".npy", write_npy_file},
    {".npz", write_npz_file},         {".png", write_pictures<png_of>},
    {".svg", write_pictures<svg_of>}, {".pdf", write_pictures<pdf_of>},
    {".html", write_page_file},
};

bool can_be(std::string_view ending, const Metrics&) {
  return ending == ".json" || ending == ".npz" || ending == ".html";
}
bool can_be(std::string_view ending, const Info&) {
  return ending == ".json" || ending == ".npz" || ending == ".html";
}
bool can_be(std::string_view ending, const Evaluation&) { return ending != ".npy"; }
template <class R>
bool can_be(std::string_view, const R&) {
  return true;
}

// `possible` says which endings an error about an unknown one names.
template <class Possible>
const Format& format_of(const std::string& path, const Possible& possible) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::vector<std::string_view> known;
  for (const Format& format : formats) {
    if (format.ending == ending) return format;
    if (possible(format.ending)) known.push_back(format.ending);
  }
  if (ending.empty())
    fail_usage("{}: has no ending, expected one of {}; add one", path, fmt::join(known, ", "));
  fail_usage("{}: no format has the ending '{}', expected one of {}; choose one", path, ending,
             fmt::join(known, ", "));
}

const Format& format_of(const std::string& path) {
  return format_of(path, [](std::string_view) { return true; });
}

// Attention takes long to save again, so the file that was read is never overwritten.
void refuse_to_replace_source(const Results& results, const std::string& path) {
  const auto check = [&](const Description& source) {
    std::error_code missing;
    if (std::filesystem::equivalent(source.name, path, missing))
      fail("{}: is the file that was read, expected another to write to; choose another name",
           path);
  };
  for (const ResultView result : results)
    result.visit([&](const auto& one) {
      if constexpr (requires { one.panels; })
        for (const Attribution& panel : one.panels) check(panel.source);
      else if constexpr (requires { one.source; })
        check(one.source);
    });
}

void write_standard_output(const Results& results, const WriteOptions& options) {
  const auto check = [](bool done) {
    if (!done)
      fail(
          "standard output: could not be written ({}), expected room for the result; write to a "
          "file",
          std::strerror(errno));
  };
  put_json(results, options, [&](std::string_view bytes) {
    check(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size());
  });
  check(std::fflush(stdout) == 0);
}

}  // namespace

void write(const Results& results, const std::string& path, const WriteOptions& options) {
  if (path == "-") return write_standard_output(results, options);
  const Format& format = format_of(path, [&](std::string_view ending) {
    return std::ranges::all_of(results, [&](ResultView result) {
      return result.visit([&](const auto& one) { return can_be(ending, one); });
    });
  });
  refuse_to_replace_source(results, path);
  format.write(results, path, options);
}

void write(const std::vector<Result>& results, const std::string& path,
           const WriteOptions& options) {
  write(Results(results.begin(), results.end()), path, options);
}

void write(ResultView result, const std::string& path, const WriteOptions& options) {
  write(Results{result}, path, options);
}

bool is_picture(const std::string& path) {
  if (path == "-") return false;
  const std::string_view ending = format_of(path).ending;
  return ending == ".png" || ending == ".svg" || ending == ".pdf";
}

void check_writable(const std::string& path, std::string_view endings) {
  if (path == "-") return;
  format_of(path, [&](std::string_view ending) {
    return endings.empty() || endings.find(ending) != std::string_view::npos;
  });
  const OutputFile probe(path);
}

}  // namespace headwater
