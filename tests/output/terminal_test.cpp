#include "headwater/output/terminal/terminal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "headwater/core/display_width.h"
#include "headwater/core/utf8.h"
#include "headwater/result/row_to_show.h"
#include "made.h"

namespace headwater {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(Terminal, GivesATableForPipes) {
  Attribution result = made_row({"[CLS]", "\u4f60\u597d", "##s"}, {0.5f, 0.25f, 0});
  result.notes = {"a note"};
  EXPECT_EQ(terminal(result, 0, {}, false, 80),
            "# Attention rollout, output token 0 '[CLS]': made.npz, 3 tokens, layers 0:2, mean of "
            "4 heads, "
            "residual 0.5\n"
            "# a note\n"
            "index  token   value\n"
            "    0  [CLS]  0.5000  ########################\n"
            "    1  \u4f60\u597d   0.2500  ############\n"
            "    2  \u00b7s          0\n");
}

TEST(Terminal, ShadesTheRunningTextInColour) {
  const Attribution result = made_row({"the", "cat", "##s"}, {0, 1, 0.5f});
  const std::string text = terminal(result, 0, {}, true, 80);
  EXPECT_NE(text.find("\x1b[48;2;255;255;255m\x1b[38;2;0;0;0mthe\x1b[0m \x1b[48;2;56;176;163m"),
            text.npos)
      << text;
  EXPECT_NE(text.find("1.000"), text.npos);
}

TEST(Terminal, KeepsToTheWidth) {
  std::vector<std::string> tokens;
  for (int j = 0; j < 200; ++j) tokens.push_back(j % 3 == 0 ? "\u4f60\u597d" : "word");
  const std::string text =
      terminal(made_row(tokens, std::vector<float>(200, 0.1f)), 0, {}, true, 40);
  const std::vector<std::string> lines = lines_of(text);
  for (size_t k = 2; k < lines.size(); ++k) {
    std::string seen;
    for (size_t at = 0; at < lines[k].size(); ++at) {
      if (lines[k][at] == '\x1b')
        at = lines[k].find('m', at);
      else
        seen += lines[k][at];
    }
    EXPECT_LE(display_width(seen), 40) << lines[k];
  }
}

TEST(Terminal, LetsNoTokenSpeakToTheTerminal) {
  const std::vector<std::string> tokens = hostile_tokens();
  Attribution result = made_row(tokens, std::vector<float>(tokens.size(), 0.01f));
  result.source.name = "\x1b]0;owned\x07.npz";
  result.notes = {"\x1b[2J"};
  const std::string plain = terminal(result, 0, {}, false, 80);
  EXPECT_EQ(plain.find('\x1b'), plain.npos);
  EXPECT_EQ(plain.find('\x07'), plain.npos);
  EXPECT_EQ(valid_utf8(plain), plain);
  std::string colour = terminal(result, 0, {}, true, 80);
  EXPECT_EQ(valid_utf8(colour), colour);
  for (size_t at = colour.find('\x1b'); at != colour.npos; at = colour.find('\x1b', at + 1)) {
    const std::string code = colour.substr(at, 7);
    EXPECT_TRUE(code == "\x1b[48;2;" || code == "\x1b[38;2;" || code.starts_with("\x1b[0m")) << at;
  }
  for (const char32_t c : code_points(plain))
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7F && c != 0x9B));
  EXPECT_EQ(lines_of(plain).size(), tokens.size() + 3);
}

TEST(Terminal, SaysHowMuchAFilterLeftOut) {
  const Attribution result = made_row({"[CLS]", "cat"}, {0.75f, 0.25f});
  Filter filter;
  filter.special = true;
  const std::string text = terminal(result, 0, filter, false, 80);
  EXPECT_NE(text.find("left out 75.0 %"), text.npos) << text;
  EXPECT_NE(text.find("1  cat    0.2500"), text.npos) << text;
  filter.renormalise = true;
  EXPECT_NE(terminal(result, 0, filter, false, 80).find("1.000"), text.npos);
}

TEST(Terminal, SurvivesNumbersThatAreNone) {
  const Attribution result = made_row({"a", "b"}, {std::nanf(""), INFINITY});
  for (const bool colour : {false, true}) {
    const std::string text = terminal(result, 0, {}, colour, 80);
    EXPECT_EQ(text.find("nan"), text.npos) << text;
    EXPECT_EQ(text.find("inf"), text.npos) << text;
  }
}

TEST(Terminal, PutsPanelsSideBySide) {
  const std::string text = terminal(made_comparison(2, 2), 1, {});
  EXPECT_NE(text.find("discard 0.0        1.000        0.500"), text.npos) << text;
  EXPECT_NE(text.find("index  token  discard 0.0  discard 0.1\n"), text.npos) << text;
  EXPECT_NE(text.find("    1  t1          0.6667       0.6667\n"), text.npos) << text;
}

TEST(Terminal, ShowsLayersSideBySide) {
  const std::string text = terminal(made_by_layer(3, 2, true), 0, {}, false, 80);
  EXPECT_NE(text.find("Attention rollout by layer, output token 0 't0'"), text.npos) << text;
  EXPECT_NE(text.find("index  token  layer 0  layer 1\n    0  t0      0.1250   0.2500\n"),
            text.npos)
      << text;
  // Six layers fit into twenty columns, and the last is one of them.
  const std::string colour = terminal(made_by_layer(3, 11, true), 0, {}, true, 22);
  EXPECT_NE(colour.find("layer    0  2  4  6  8 10\n"), colour.npos) << colour;
  EXPECT_NE(colour.find("(6 of 11 layers fit"), colour.npos) << colour;
}

TEST(Terminal, ShadesPartsOfACharacterAsOne) {
  const Attribution result = made_row({"\u0120a", "\u00e4\u00bd", "\u0142"}, {0.5f, 0.25f, 0.25f});
  const std::string text = terminal(result, 0, {}, true, 80);
  EXPECT_NE(text.find("\x1b[48;2;56;176;163m\x1b[38;2;0;0;0m\u4f60\x1b[0m"), text.npos) << text;
}

TEST(Terminal, NamesThePanelsThatANoteIsAbout) {
  Comparison result = made_comparison(2, 2);
  result.panels[0].notes = {"of both"};
  result.panels[1].notes = {"of both", "of one"};
  const std::string text = terminal(result, 0, {});
  EXPECT_NE(text.find("# of both\n"), text.npos) << text;
  EXPECT_NE(text.find("# discard 0.1: of one\n"), text.npos) << text;
}

TEST(Terminal, SaysWhatTheModelSaid) {
  Attribution result = made_row({"a", "b"}, {1, 0});
  result.prediction =
      Prediction{"class", {"plural", 1, 0, 2.5}, 0.975, Logit{"singular", 0, 0, 0}, 0.025};
  const std::string text = terminal(result, 0, {}, false, 80);
  EXPECT_NE(text.find("# the model says: class 'plural' (97.5 %), then 'singular' (2.5 %)\n"),
            text.npos)
      << text;
  EXPECT_EQ(text.find("plural"), text.rfind("plural")) << "once";
}

TEST(Terminal, ListsMetricsAndInfo) {
  Metrics metrics;
  metrics.max_attention = 0.875;
  EXPECT_NE(terminal(metrics).find("max_attention            0.8750\n"), std::string::npos)
      << terminal(metrics);
  Info info;
  info.source = made(3).source;
  info.source.padded = 8;
  info.reading = "npz";
  info.kernel = "AVX2";
  const std::string text = terminal(info);
  EXPECT_NE(text.find("tokens   3 (of 8, padded)\n"), text.npos) << text;
  EXPECT_NE(text.find("kernel   AVX2\n"), text.npos) << text;
}

TEST(RowToShow, IsTheLastOfCausalAttentionAndTheFirstOtherwise) {
  EXPECT_EQ(row_to_show(made(3)), 0);
  EXPECT_EQ(row_to_show(made(1)), 0);
  EXPECT_EQ(row_to_show(made_row({"a", "b"}, {1, 0})), 0);
  Attribution causal = made(3);
  causal.values[0](0, 1) = causal.values[0](0, 2) = causal.values[0](1, 2) = 0;
  EXPECT_EQ(row_to_show(causal), 2);
}

}  // namespace
}  // namespace headwater
