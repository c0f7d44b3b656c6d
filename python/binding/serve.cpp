// The local server: for models that the engine opens, and for a live one that Python answers for.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "headwater/core/fail.h"
#include "python/binding/binding.h"
#include "server/models.h"
#include "server/server.h"

namespace headwater::python {
namespace {

using namespace nb::literals;

// What Python's function is called with to say how far it is. It may outlive the question.
struct Report {
  server::Listener* listener;
  bool gone = false;
};

// A Python error as one sentence. Errors of headwater are sentences already.
std::string sentence_of(nb::python_error& error) {
  const std::string text = nb::cast<std::string>(nb::str(error.value()));
  const nb::object own = nb::module_::import_("headwater.errors").attr("Error");
  if (error.matches(own)) return text;
  return one_line(fmt::format("the model failed ({}: {}), expected an output; check the input",
                              nb::cast<std::string>(error.type().attr("__name__")), text));
}

Dictionary words_of(const server::Question& question) {
  Dictionary words, options;
  for (const auto& [name, value] : question.given) options[nb::str(name.c_str())] = value;
  words["method"] = question.method;
  words["text"] = question.text ? nb::cast(*question.text) : nb::none();
  words["pair"] = question.pair ? nb::cast(*question.pair) : nb::none();
  words["image"] =
      question.image
          ? nb::object(nb::bytes(question.image->bytes.data(), question.image->bytes.size()))
          : nb::none();
  words["options"] = options;
  return words;
}

class PythonAnswerer : public server::Answerer {
 public:
  PythonAnswerer(std::string menu, nb::object answer)
      : menu_(std::move(menu)), answer_(std::move(answer)) {}

  std::string menu() override { return menu_; }

  std::string answer(const server::Question& question, server::Listener& listener) override {
    if (question.file)
      fail(
          "{}: is a file of attention, and this server has one model in Python, expected a text; "
          "'headwater serve' takes files",
          question.file->name);
    nb::gil_scoped_acquire acquire;
    const auto report = std::make_shared<Report>(Report{&listener});
    const nb::object progress = nb::cpp_function(
        [report](const std::string& what, int64_t done, int64_t total) {
          try {
            if (report->listener) report->listener->progress(what, done, total);
          } catch (const server::Cancelled&) {
            report->gone = true;
          }
          return !report->gone;
        },
        "what"_a, "done"_a, "total"_a);
    std::string page, problem;
    try {
      page = nb::cast<std::string>(answer_(words_of(question), progress));
    } catch (nb::python_error& error) {
      problem = sentence_of(error);
    }
    report->listener = nullptr;
    if (report->gone) throw server::Cancelled();
    if (!problem.empty()) throw Error(problem);
    return page;
  }

 private:
  std::string menu_;
  nb::object answer_;
};

class PythonServer {
 public:
  PythonServer(std::unique_ptr<server::Answerer> answerer, int port, bool or_any_port)
      : answerer_(std::move(answerer)),
        server_(std::make_unique<server::Server>(
            *answerer_, server::ServerOptions{.port = port, .or_any_port = or_any_port})) {}
  ~PythonServer() {
    // What is being computed may wait for the GIL.
    nb::gil_scoped_release release;
    server_.reset();
  }
  PythonServer(const PythonServer&) = delete;
  PythonServer& operator=(const PythonServer&) = delete;

  server::Server& server() { return *server_; }

 private:
  std::unique_ptr<server::Answerer> answerer_;
  std::unique_ptr<server::Server> server_;
};

std::vector<std::pair<std::string, std::vector<std::string>>> methods() {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const server::MethodWords& one : server::methods())
    out.emplace_back(one.name, server::words_of(one.options));
  return out;
}

}  // namespace

void bind_serve(nb::module_& module) {
  nb::class_<PythonServer>(module, "Server", "A page on 127.0.0.1, and answers to what it asks.")
      .def(
          "__init__",
          [](PythonServer* self, const std::vector<std::string>& models, int port, bool any) {
            new (self) PythonServer(std::make_unique<server::ServedModels>(models), port, any);
          },
          "models"_a, "port"_a, "or_any_port"_a, "Opens models and listens.")
      .def(
          "__init__",
          [](PythonServer* self, const std::string& menu, nb::callable answer, int port, bool any) {
            new (self)
                PythonServer(std::make_unique<PythonAnswerer>(menu, std::move(answer)), port, any);
          },
          "menu"_a, "answer"_a, "port"_a, "or_any_port"_a,
          "Listens. answer(question, progress) returns the data of a page; progress(what, done, "
          "total) is false when nobody waits any more.")
      .def_prop_ro("url", [](PythonServer& self) { return self.server().url(); })
      .def_prop_ro("port", [](PythonServer& self) { return self.server().port(); })
      .def(
          "run",
          [](PythonServer& self) {
            nb::gil_scoped_release release;
            self.server().run();
          },
          "Serves until stop().")
      .def(
          "stop", [](PythonServer& self) { self.server().stop(); }, "Ends run(), from any thread.");
  module.def("server_methods", &methods,
             "The methods that a page may ask for, each with the names of its options.");
}

}  // namespace headwater::python
