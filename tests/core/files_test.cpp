#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <thread>

#include "headwater/core/mapped_file.h"
#include "headwater/core/output_file.h"
#include "tests/support/bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/failing_allocation.h"

namespace headwater {
namespace {

using test::Folder;
constexpr Error::Kind work = Error::Kind::work;

size_t count_files(const Folder& folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path("")))
    ++count;
  return count;
}

TEST(MappedFiles, HoldTheBytesOfTheFile) {
  const Folder folder;
  MappedFile file(folder.write("a", "bytes"));
  const MappedFile moved(std::move(file));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(moved.bytes().data()), moved.bytes().size()),
            "bytes");
}

TEST(MappedFiles, KeepTheirBytesAfterRelease) {
  const Folder folder;
  const std::string bytes(100'000, 'x');
  const MappedFile file(folder.write("a", bytes));
  release(file.bytes());
  release(file.bytes().subspan(1, 1));
  EXPECT_EQ(std::memcmp(file.bytes().data(), bytes.data(), bytes.size()), 0);
}

TEST(MappedFiles, AreNoFoldersNorMissingNorEmpty) {
  const Folder folder;
  for (const auto& path : {folder.path("missing"), folder.path(""), folder.write("empty", "")})
    test::expect_error(work, {path}, [&] { MappedFile file(path); });
  test::expect_error(work, {"/dev/null", "not a plain file"}, [] { MappedFile file("/dev/null"); });
}

TEST(OutputFiles, AreThereWhenCommittedAndNotBefore) {
  const Folder folder;
  {
    OutputFile file(folder.path("a"));
    file.write("one ");
    file.write("two");
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
    file.commit();
  }
  EXPECT_EQ(test::read_file(folder.path("a")), "one two");
  EXPECT_EQ(count_files(folder), 1u);
}

TEST(OutputFiles, LeaveTheOldFileIfNotCommitted) {
  const Folder folder;
  folder.write("a", "old");
  {
    OutputFile file(folder.path("a"));
    file.write(std::string(3 << 20, 'n'));
  }
  EXPECT_EQ(test::read_file(folder.path("a")), "old");
  EXPECT_EQ(count_files(folder), 1u);
}

TEST(OutputFiles, ReplaceTheOldFileAtOnce) {
  const Folder folder;
  folder.write("a", "old and longer");
  OutputFile file(folder.path("a"));
  file.write("new");
  file.commit();
  EXPECT_EQ(test::read_file(folder.path("a")), "new");
}

TEST(OutputFiles, HaveTheModeThatAnyNewFileHas) {
  const Folder folder;
  const mode_t before = umask(022);
  OutputFile file(folder.path("a"));
  file.commit();
  umask(before);
  struct stat about;
  ASSERT_EQ(stat(folder.path("a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0644u);
}

TEST(OutputFiles, AreRefusedBeforeAnyWork) {
  const Folder folder;
  test::expect_error(work, {"no/such/x.json", "folder", "create it first"},
                     [&] { OutputFile file(folder.path("no/such/x.json")); });
  std::filesystem::create_directory(folder.path("d"));
  test::expect_error(work, {"is a folder"}, [&] { OutputFile file(folder.path("d")); });
  test::expect_error(work, {"/proc/x.json"}, [] { OutputFile file("/proc/x.json"); });
  const auto plain = folder.write("f", "x");
  test::expect_error(work, {plain}, [&] { OutputFile file(plain + "/x.json"); });
}

mode_t mode_of(const std::string& path) {
  struct stat about = {};
  EXPECT_EQ(stat(path.c_str(), &about), 0);
  return about.st_mode & 07777;
}

TEST(OutputFiles, KeepTheModeOfTheFileThatTheyReplace) {
  const Folder folder;
  const auto path = folder.write("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  OutputFile file(path);
  file.write("new");
  file.commit();
  EXPECT_EQ(mode_of(path), 0600u);
}

TEST(OutputFiles, AreWrittenThroughLinks) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("d"));
  folder.write("d/there", "old");
  std::filesystem::create_symlink("d/there", folder.path("link"));
  std::filesystem::create_symlink("link", folder.path("link_to_link"));
  std::filesystem::create_symlink("d/new", folder.path("dangling"));
  for (const auto& [link, target] : {std::pair{"link_to_link", "d/there"}, {"dangling", "d/new"}}) {
    OutputFile file(folder.path(link));
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path(link)));
    EXPECT_EQ(test::read_file(folder.path(target)), "new");
  }
  std::filesystem::create_symlink("round", folder.path("round"));
  test::expect_error(work, {"form a loop"}, [&] { OutputFile file(folder.path("round")); });
}

TEST(OutputFiles, GoToAPipeOrADeviceThatIsThere) {
  const Folder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = test::read_file(pipe); });
  {
    OutputFile file(pipe);
    file.write("through");
    file.commit();
  }
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::filesystem::create_symlink("/dev/full", folder.path("full"));
  test::expect_error(work, {folder.path("full"), "No space left"}, [&] {
    OutputFile file(folder.path("full"));
    file.write("x");
    file.commit();
  });
}

TEST(OutputFiles, MayHaveTheLongestNameThatThereIs) {
  const Folder folder;
  OutputFile file(folder.path(std::string(255, 'n')));
  file.write("x");
  file.commit();
  EXPECT_EQ(test::read_file(folder.path(std::string(255, 'n'))), "x");
  test::expect_error(work, {"too long", "255"},
                     [&] { OutputFile longer(folder.path(std::string(256, 'n'))); });
}

TEST(OutputFiles, SayWhenThereIsNoRoomAndLeaveNothing) {
  const Folder folder;
  folder.write("a", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  test::expect_error(work, {folder.path("a"), "free some"}, [&] {
    OutputFile file(folder.path("a"));
    file.write(std::string(1 << 20, 'n'));
    file.commit();
  });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(test::read_file(folder.path("a")), "old");
  EXPECT_EQ(count_files(folder), 1u);
}

TEST(OutputFiles, LeaveNothingWhereverMemoryRunsOut) {
  const Folder folder;
  for (long successes = 0; !std::filesystem::exists(folder.path("a")); ++successes) {
    ASSERT_LT(successes, 100);
    try {
      OutputFile file(folder.path("a"));
      file.write("new");
      const FailingAllocation failing(successes);
      file.commit();
    } catch (const std::bad_alloc&) {
    }
    EXPECT_EQ(count_files(folder), std::filesystem::exists(folder.path("a")) ? 1u : 0u);
  }
}

}  // namespace
}  // namespace headwater
