// A failure as design.md asks for: one sentence, the right kind, fast, and without allocating what
// a file merely claims.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "headwater/core/error.h"
#include "headwater/source/read_options.h"

namespace headwater::test {

/// Runs `work` and expects an Error of `kind` whose sentence has all `parts`. The sentence is one
/// line; one of Kind::work says what was expected and, after a semicolon, what to do.
void expect_error(Error::Kind kind, const std::vector<std::string>& parts,
                  const std::function<void()>& work);

/// Opens `path` and reads all layers of all items; expects an Error of Kind::work that names the
/// file and has all `parts`.
void expect_bad_file(const std::string& path, std::vector<std::string> parts,
                     const ReadOptions& options = {});

/// Opens `path` and reads all layers of all items.
void read_through(const std::string& path, const ReadOptions& options = {});

}  // namespace headwater::test
