#include "headwater/result/token_text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "headwater/core/utf8.h"
#include "made.h"

namespace headwater {
namespace {

using Strings = std::vector<std::string>;

std::string text_of(const Strings& tokens) {
  std::string out;
  for (const Piece& piece : running_text(tokens)) {
    if (piece.space) out += ' ';
    out += piece.text;
    if (piece.ends_line) out += '/';
  }
  return out;
}

TEST(TokenText, JoinsWordPieces) {
  const Strings tokens = {"[CLS]", "the", "cabinet", "##s", ",", "don",  "'",
                          "t",     "(",   "ok",      ")",   ".", "[SEP]"};
  EXPECT_EQ(text_of(tokens), "[CLS] the cabinets, don't (ok). [SEP]");
  EXPECT_EQ(token_labels(tokens)[3], "\u00b7s");
  EXPECT_EQ(token_labels(tokens)[0], "[CLS]");
}

TEST(TokenText, DecodesByteLevelTokens) {
  const Strings tokens = {"The",    "\u0120caf",    "\u00c3\u00a9",
                          "\u010a", "\u0120\u0120", "<|endoftext|>"};
  EXPECT_EQ(token_labels(tokens),
            (Strings{"The", "caf", "\u00e9", "\u23ce", "\u2423\u2423", "<|endoftext|>"}));
  EXPECT_EQ(text_of(tokens), "The caf\u00e9\u23ce/ \u2423<|endoftext|>");
}

TEST(TokenText, ShowsPartsOfACharacterAsOneUnit) {
  // The first two of the three bytes of U+4F60, then the third and a letter.
  const Strings tokens = {"\u0120a", "\u0120\u00e4\u00bd", "\u0142b", "c"};
  EXPECT_EQ(token_labels(tokens), (Strings{"a", "\u4f60b 1/2", "\u4f60b 2/2", "c"}));
  const std::vector<Piece> pieces = running_text(tokens);
  EXPECT_EQ(text_of(tokens), "a \u4f60bc");
  EXPECT_EQ(pieces[1].parts, 2);
  EXPECT_EQ(pieces[2].parts, 0);
  std::vector<bool> kept = {true, false, true, true};
  EXPECT_EQ(piece_values(pieces, std::vector<float>{0.25f, 0.5f, 0.125f, 1}, kept),
            (std::vector<float>{0.25f, 0.125f, 0, 1}));
  EXPECT_EQ(kept, (std::vector<bool>{true, true, false, true}));
  // Bytes that are part of no character.
  EXPECT_EQ(token_labels({"\u0120a", "\u00e4", "b"}), (Strings{"a", "<0xE4>", "b"}));
  EXPECT_EQ(text_of({"\u0120a", "\u0120\u00e4\u00bd", "b"}), "a <0xE4><0xBD>b");
  EXPECT_EQ(token_labels({"\u2581a", "<0xE4>", "b"}), (Strings{"a", "<0xE4>", "b"}));
  // The character U+FFFD itself.
  EXPECT_EQ(token_labels({"\u0120a", "\u00ef\u00bf\u00bd"}), (Strings{"a", "\uFFFD"}));
  EXPECT_EQ(token_labels_after({"\u0120a", "\u00e4\u00bd"}, {"\u0142"}), (Strings{"\u4f60 2/2"}));
  // A word that a model would write, which is no text, after a text without a space.
  EXPECT_EQ(token_labels_after({"S", "tra\u00c3\u0141e"}, {"\u0137\u00ce\u00bb\u00ce"}),
            (Strings{"<0x95>\u03bb<0xCE>"}));
}

TEST(TokenText, ShowsPartsOfACharacterInSentencePieceAsOneUnit) {
  const Strings tokens = {"\u2581x", "<0xE9>", "<0x91>", "<0xAB>", "y"};
  EXPECT_EQ(token_labels(tokens), (Strings{"x", "\u946b 1/3", "\u946b 2/3", "\u946b 3/3", "y"}));
  EXPECT_EQ(text_of(tokens), "x\u946by");
}

TEST(TokenText, KnowsByteLevelTokensWithoutASpace) {
  // Qwen and GPT-2 spell these two in bytes.
  EXPECT_EQ(text_of({"\u00e6\u012a\u0133", "\u00e5\u0138\u013e", "\u00e6\u00ac\u00a2"}),
            "\u6211\u559c\u6b22");
  EXPECT_EQ(token_labels({"Stra", "\u00c3\u0141", "e", "<|endoftext|>"}),
            (Strings{"Stra", "\u00df", "e", "<|endoftext|>"}));
  // Cut off within its last character.
  EXPECT_EQ(token_labels({"\u00c3\u0141", "\u00e5\u0138"}), (Strings{"\u00df", "<0xE5><0x96>"}));
  // Accented words of other vocabularies are no UTF-8 in that alphabet.
  EXPECT_EQ(token_labels({"na\u00efve", "caf\u00e9"}), (Strings{"na\u00efve", "caf\u00e9"}));
  EXPECT_EQ(token_labels({"\u00e9"}), (Strings{"\u00e9"}));
  EXPECT_EQ(token_labels({"\u00c3\u00a9", "\u4f60"}), (Strings{"\u00c3\u00a9", "\u4f60"}));
}

TEST(TokenText, GivesWordsToLookUp) {
  EXPECT_EQ(token_words({"\u0120keys", ".\u010a", "\u00e4\u00bd", "\u0142"}),
            (Strings{"keys", ".\n", "\u4f60", "\u4f60"}));
  EXPECT_EQ(token_words({"key", "##s"}), (Strings{"key", "s"}));
}

TEST(TokenText, LeavesTokensAloneThatTheByteTableDoesNotHave) {
  EXPECT_EQ(token_labels({"\u0120a", "\u4f60"})[1], "\u4f60");
}

TEST(TokenText, ReadsSentencePiece) {
  const Strings tokens = {"<s>", "\u2581Hello", "\u2581wor", "ld", "<0x0A>", "\u2581"};
  EXPECT_EQ(token_labels(tokens), (Strings{"<s>", "Hello", "wor", "ld", "\u23ce", "\u2423"}));
  EXPECT_EQ(text_of(tokens), "<s> Hello world\u23ce/\u2423");
}

TEST(TokenText, TakesMalteseLettersForLettersInOtherVocabularies) {
  EXPECT_EQ(token_labels({"\u0120wanni", "##a"})[0], "\u0120wanni");
  EXPECT_EQ(token_labels({"\u2581\u0120wanni", "\u2581u"})[0], "\u0120wanni");
}

TEST(TokenText, KeepsTokensThatAreTextAlready) {
  EXPECT_EQ(text_of({"The", " cat", " sat"}), "The cat sat");
  EXPECT_EQ(token_labels({"The", " cat"})[1], "cat");
}

TEST(TokenText, WritesChineseWithoutSpaces) {
  EXPECT_EQ(text_of({"\u4f60", "\u597d", "\u3002"}), "\u4f60\u597d\u3002");
  EXPECT_EQ(text_of({"a", "\u4f60"}), "a \u4f60");
}

TEST(TokenText, ShortensInTheMiddle) {
  EXPECT_EQ(shortened("abcdefghij", 5), "ab\u2026ij");
  EXPECT_EQ(shortened("abcde", 5), "abcde");
  EXPECT_EQ(code_points(token_labels({std::string(9999, 'x')}).front()).size(), 24u);
}

bool is_harmless(const std::string& text) {
  for (const char32_t c : code_points(text))
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E)) return false;
  return valid_utf8(text) == text;
}

TEST(TokenText, IsHarmlessForHostileTokens) {
  for (const std::string& label : token_labels(hostile_tokens()))
    EXPECT_TRUE(is_harmless(label)) << label;
  for (const Piece& piece : running_text(hostile_tokens()))
    EXPECT_TRUE(is_harmless(piece.text)) << piece.text;
  for (const std::string& token : hostile_tokens()) EXPECT_TRUE(is_harmless(harmless(token)));
}

RC_GTEST_PROP(TokenText, IsHarmlessForAnyBytes, (const std::vector<std::string>& tokens)) {
  const Strings labels = token_labels(tokens);
  const std::vector<Piece> pieces = running_text(tokens);
  RC_ASSERT(labels.size() == tokens.size());
  RC_ASSERT(pieces.size() == tokens.size());
  for (const std::string& label : labels) RC_ASSERT(is_harmless(label));
  for (const Piece& piece : pieces) RC_ASSERT(is_harmless(piece.text));
}

}  // namespace
}  // namespace headwater
