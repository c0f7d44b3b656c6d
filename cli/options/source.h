// Options that say where attention comes from.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/option_list.h"
#include "headwater/model/model_input.h"
#include "headwater/result/result.h"
#include "headwater/source/arrays.h"
#include "headwater/source/source.h"

namespace headwater::cli {

/// What a command's SOURCE may be.
enum class Takes { anything, models };

/// Adds the positional SOURCE, which must be given. `shipped` lists models that suit the command.
void declare_source(OptionList& options, Takes what, std::string& name,
                    const char* shipped = "verb-number, facts, recall, pairs, shapes");

/// Adds --ignore-code.
void declare_ignore_code(OptionList& options, bool& ignore);

/// The text, or all of standard input for "-", without the line end at its end. `option` is what
/// "-" was given to. Throws Error if standard input cannot be read, is empty or is not UTF-8.
std::string text_or_standard_input(const std::string& text, const char* option);

/// The lines of the file, or of standard input for "-". Throws Error as read_texts does.
std::vector<std::string> texts_of(const std::string& path);

/// Options that name SOURCE, a model's input and the item of a batch. Commands that take any source
/// also have options for how a file is read.
struct SourceOptions {
  std::string name;         // SOURCE
  std::optional<int> item;  // --item K
  bool all_items = false;   // --item all

  void declare(OptionList& options, Takes what);
  /// Adds --against-text and --against-image, another input to compare with.
  void declare_other(OptionList& options);

  /// Whether any option that says what to read, or how, was given.
  bool any_given() const;

  /// What `name` stands for. Reads the files that --tokens and --text-file name. Throws Error as
  /// headwater::open_batch does.
  std::unique_ptr<Batch> open() { return open(name); }
  /// Another source, read in the same way. Standard input is read once.
  std::unique_ptr<Batch> open(const std::string& other);

  /// The results of `method` for the item or items of `batch` that were asked for, with a progress
  /// bar. Throws Error if there is no such item, or if there are several and none was chosen.
  std::vector<Result> each_item(Batch& batch, const std::function<Result(Source&)>& method) const;

 private:
  void declare_input(OptionList& options);
  void declare_reading(OptionList& options);

  ModelInput input_;
  std::optional<std::string> text_file_, tokens_file_;
  std::vector<std::string> lines_;  // standard input, once it has been read
  std::string axes_, sums_, nan_;
};

}  // namespace headwater::cli
