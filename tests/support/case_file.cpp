#include "tests/support/case_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace headwater::test {
namespace {

double read_number(const std::string& text) {
  if (text == "nan") return std::nan("");
  size_t end = 0;
  const double number = std::stod(text, &end);
  if (end == text.size()) return number;
  if (text[end] != '/') throw std::runtime_error("no number: " + text);
  return number / read_number(text.substr(end + 1));
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == mark)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& word : words_of(text)) numbers.push_back(read_number(word));
  return numbers;
}

bool is_command(const std::string& word) {
  return word == "rollout" || word == "by-layer" || word == "average" || word == "raw" ||
         word == "metrics";
}

}  // namespace

std::vector<std::vector<double>> read_numbers(const std::string& text) {
  std::vector<std::vector<double>> groups;
  for (const std::string& part : split(text, '|')) groups.push_back(numbers_of(part));
  return groups;
}

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Case> cases;
  Case current;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0][0] == '#') continue;
    const std::string rest = line.substr(line.find(words[0]) + words[0].size());
    if (words[0] == "layers") {
      current.layers.clear();
      // A lone slash parts heads; one inside a word is a fraction.
      std::string marked = rest;
      for (size_t k = 1; k + 1 < marked.size(); ++k)
        if (marked[k] == '/' && marked[k - 1] == ' ' && marked[k + 1] == ' ') marked[k] = ';';
      for (const std::string& layer : split(marked, '|')) {
        current.layers.emplace_back();
        for (const std::string& head : split(layer, ';'))
          current.layers.back().push_back(numbers_of(head));
      }
    } else if (words[0] == "tokens") {
      current.tokens.assign(words.begin() + 1, words.end());
    } else if (is_command(words[0])) {
      cases.push_back(current);
      cases.back().line = number;
      cases.back().command = words[0];
      for (size_t k = 1; k < words.size(); ++k) {
        const size_t equals = words[k].find('=');
        cases.back().options[words[k].substr(0, equals)] =
            equals == std::string::npos ? "" : words[k].substr(equals + 1);
      }
    } else if (words[0] == "expect" && !cases.empty()) {
      cases.back().expect.push_back(rest.substr(1));
    } else {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, line));
    }
  }
  return cases;
}

}  // namespace headwater::test
