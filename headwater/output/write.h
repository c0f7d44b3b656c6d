// Writes results to files; the ending of the name selects the format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "headwater/output/write_options.h"
#include "headwater/result/result.h"

namespace headwater {

/// Writes results to `path`: .json .npy .npz .png .svg .pdf .html, or "-" for JSON on standard
/// output. Several results (the items of a batch) become a JSON list, arrays named "K/name", an
/// array with a leading axis in .npy (equal lengths only), numbered pictures (x-0.png, x-1.png), or
/// one page that holds all. A file is complete or not there at all, and an old one survives a
/// failure. Throws Error for an unknown ending (usage), for a result that does not have this form,
/// and if the file cannot be written.
void write(const std::vector<ResultView>& results, const std::string& path,
           const WriteOptions& options = {});

void write(const std::vector<Result>& results, const std::string& path,
           const WriteOptions& options = {});

/// Writes one result: write(attribution, "cls.svg").
void write(ResultView result, const std::string& path, const WriteOptions& options = {});

/// Throws as write() would for the ending and the place, before any work is done. Creates and
/// removes a file there. `endings` lists those that an error about an unknown one names; "": all.
void check_writable(const std::string& path, std::string_view endings = {});

/// Whether the ending of `path` names a picture.
bool is_picture(const std::string& path);

}  // namespace headwater
