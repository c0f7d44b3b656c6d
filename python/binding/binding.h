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

/// Inputs with whatever must live as long as they do: arrays of Python, or its functions.
struct Inputs {
  nb::object alive;  // above the batch, so that it goes last
  std::unique_ptr<Batch> batch;
};

/// What the items of a batch gave, in order.
struct Results {
  Results() = default;
  Results(Results&&) = default;
  Results& operator=(Results&&) = default;
  std::vector<Result> list;
};

void bind_options(nb::module_& module);
void bind_inputs(nb::module_& module);
void bind_live(nb::module_& module);
void bind_methods(nb::module_& module);
void bind_results(nb::module_& module);
void bind_generate(nb::module_& module);
void bind_kernels(nb::module_& module);

}  // namespace headwater::python
