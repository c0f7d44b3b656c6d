#include "headwater/core/error.h"
#include "headwater/core/threads.h"
#include "headwater/core/version.h"
#include "python/binding/binding.h"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_engine, module) {
  module.doc() = "The engine of headwater, as the package uses it. Import headwater instead.";
  nb::exception<headwater::Error> error(module, "Error", PyExc_ValueError);
  error.attr("__module__") = "headwater";
  error.attr("__doc__") = "What was found, what was expected, what to do: one sentence.";
  module.attr("__version__") = headwater::version();
  module.def("threads", &headwater::threads, "How many threads the engine uses.");
  module.def("set_threads", &headwater::set_threads, "count"_a,
             "Sets how many threads the engine uses; results do not depend on it.");
  headwater::python::bind_options(module);
  headwater::python::bind_inputs(module);
  headwater::python::bind_live(module);
  headwater::python::bind_results(module);
  headwater::python::bind_methods(module);
  headwater::python::bind_generate(module);
  headwater::python::bind_kernels(module);
}
