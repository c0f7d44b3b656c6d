#include "headwater/core/output_file.h"

#include <nanobind/stl/string.h>

#include "python/binding/binding.h"

namespace headwater::python {

using namespace nb::literals;

void bind_output_file(nb::module_& module) {
  nb::class_<OutputFile>(module, "OutputFile", "A file that appears whole or not at all.")
      .def(nb::init<const std::string&>(), "path"_a,
           "Leaves `path` alone until commit(). Raises headwater.Error if nothing can be written "
           "there.")
      .def(
          "write",
          [](OutputFile& self, const nb::bytes& bytes) {
            self.write({bytes.c_str(), bytes.size()});
            return bytes.size();
          },
          "bytes"_a,
          "Appends, and returns how many bytes. Raises headwater.Error if the disk is full.")
      .def("commit", &OutputFile::commit,
           "Moves the file into its place, with the mode of the one that was there.");
}

}  // namespace headwater::python
