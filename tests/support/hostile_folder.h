// Folders of files that are wrong, each with a record of what a reader must say to it.
#pragma once
#include <functional>
#include <string>

namespace headwater::test {

/// Calls read(path) for each file of tests/`folder` in the order of their names, without those of
/// ending .md, .cpp and .txt. It returns what an accepted file holds, or throws an Error: one line,
/// of Kind::work. Either takes less than a second.
///
/// All outcomes together must be tests/`folder`/`record` (see expect_recorded), a line for each
/// file: the sentence of its Error with the folder cut off, or "NAME: accepted, " and what
/// read() returned. "(not named)" marks a sentence that does not begin with the file's name. So a
/// new file without a line fails, as does a file that is accepted now and was refused before.
void expect_outcomes(const std::string& folder, const std::string& record,
                     const std::function<std::string(const std::string& path)>& read);

/// Expects README.md of tests/`folder` to name each of these files.
void expect_named_in_readme(const std::string& folder);

}  // namespace headwater::test
