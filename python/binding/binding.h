// The parts of the Python module, one for each source file here.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "headwater/layer/options.h"
#include "headwater/output/write.h"
#include "headwater/source/source.h"

namespace headwater::python {

namespace nb = nanobind;

/// Inputs, and the Python arrays or functions that they read.
struct Inputs {
  nb::object alive;  // declared before the batch, so destroyed after it
  std::unique_ptr<Batch> batch;
};

/// What the items of a batch gave, in order.
struct Results {
  Results() = default;
  Results(Results&&) = default;
  Results& operator=(Results&&) = default;
  std::vector<Result> list;
};

/// A dictionary with words as keys.
using Dictionary = nb::typed<nb::dict, nb::str, nb::any>;

/// Results as bytes, for pickle, and back. Throws Error for bytes that are not such, and for kinds
/// of results that Python never holds.
nb::bytes to_bytes(Results& results);
Results from_bytes(const nb::bytes& bytes);

/// Panel p of comparison k, or result k itself.
Attribution& attribution_at(Results& results, int k, int panel);

Attribution copy_of(Attribution& result);
Comparison copy_of(Comparison& result);
Generated copy_of(Generated& result);

void bind_options(nb::module_& module);
void bind_inputs(nb::module_& module);
void bind_live(nb::module_& module);
void bind_methods(nb::module_& module);
void bind_results(nb::module_& module);
void bind_made(nb::class_<Results>& results);
void bind_evaluate(nb::module_& module);
void bind_generate(nb::module_& module);
void bind_layers(nb::module_& module);
void bind_kernels(nb::module_& module);
void bind_serve(nb::module_& module);
void bind_cuda(nb::module_& module);
void bind_output_file(nb::module_& module);

}  // namespace headwater::python
