// What the server asks for answers: the models that this process opened, or a live one in Python.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "server/question.h"

namespace headwater::server {

/// Thrown by a Listener, and passed through by an Answerer: nobody is waiting for the answer any
/// more.
struct Cancelled {};

/// Receives the progress of an answer. Both functions throw Cancelled if nobody is waiting.
class Listener {
 public:
  virtual ~Listener() = default;
  /// `done` of `total`, in units of `what`: "layer".
  virtual void progress(std::string_view what, int64_t done, int64_t total) = 0;
  /// The text that was generated so far.
  virtual void text(const std::string& so_far) = 0;
};

/// For one thread, and one question at a time.
class Answerer {
 public:
  virtual ~Answerer() = default;
  /// What can be asked, as JSON; viewer/source/server/contract.ts describes it.
  virtual std::string menu() = 0;
  /// The page of the answer, as page_data() has it. Throws Error, and Cancelled.
  virtual std::string answer(const Question& question, Listener& listener) = 0;
};

}  // namespace headwater::server
