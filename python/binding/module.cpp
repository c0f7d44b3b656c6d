#include <nanobind/stl/string.h>

#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "headwater/core/version.h"
#include "python/binding/binding.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_engine, module) {
  // Torch keeps what it pickled until after the interpreter looks for leaks: nothing that a user
  // could mend.
  nb::set_leak_warnings(false);
  module.doc() = "The engine of headwater, as the package uses it. Import headwater instead.";
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* kind) {
        try {
          std::rethrow_exception(thrown);
        } catch (const headwater::Error& error) {
          PyErr_SetString(static_cast<PyObject*>(kind), error.what());
        }
      },
      nb::object(nb::module_::import_("headwater.errors").attr("Error")).release().ptr());
  module.def(
      "version", [] { return std::string(headwater::version()); }, "The version of headwater.");
  module.def("threads", &headwater::threads, "How many threads the engine uses.");
  module.def("set_threads", &headwater::set_threads, "count"_a,
             "Sets how many threads the engine uses; results do not depend on it.");
  headwater::python::bind_options(module);
  headwater::python::bind_inputs(module);
  headwater::python::bind_live(module);
  headwater::python::bind_results(module);
  headwater::python::bind_methods(module);
  headwater::python::bind_generate(module);
  headwater::python::bind_evaluate(module);
  headwater::python::bind_layers(module);
  headwater::python::bind_kernels(module);
  headwater::python::bind_serve(module);
  headwater::python::bind_cuda(module);
  headwater::python::bind_output_file(module);
}
