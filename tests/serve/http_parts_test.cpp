// The smaller parts: counters, the log's lines, workers, addresses, JSON.

#include "serve/addresses.hpp"
#include "serve/json_log.hpp"
#include "serve/json_text.hpp"
#include "serve/metrics.hpp"
#include "serve/workers.hpp"

#include <atomic>
#include <fcntl.h>
#include <future>
#include <limits>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace goblin::serve {
namespace http_parts_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(JsonText, texts_are_escaped_and_made_valid) {
  const auto written = [](std::string_view text) {
    std::string out;
    append_string(out, text);
    return out;
  };
  EXPECT_EQ(written(""), R"("")");
  EXPECT_EQ(written("item 17"), R"("item 17")");
  EXPECT_EQ(written("zoë \"1\\2\"\n\t\x01\x7f"), R"("zoë \"1\\2\"\n\t\u0001\u007f")");
  EXPECT_EQ(written("a\xff\xc3z\xc3"), "\"a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\"");
  EXPECT_EQ(written(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonText, numbers_read_as_the_same_double) {
  for (const double number : {0.1, -0.0, 1e300, 5e-324, 1.0 / 3.0, 123456789.0}) {
    std::string out;
    append_number(out, number);
    EXPECT_EQ(nlohmann::json::parse(out).get<double>(), number) << out;
  }
  std::string out;
  append_number(out, std::numeric_limits<double>::infinity());
  append_number(out, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(out, "nullnull");
}

TEST(Addresses, are_decoded) {
  EXPECT_EQ(percent_decoded("a%20b+%C3%ab"), "a b+\xc3\xab");
  for (const char* wrong : {"%", "%4", "%4g", "a%+1", "%-1"}) EXPECT_FALSE(percent_decoded(wrong)) << wrong;
  EXPECT_EQ(Query("", {"from"}).number("from", 7, 1, 9), 7);
  EXPECT_EQ(Query("from=9", {"from"}).number("from", 7, 1, 9), 9);
  for (const char* wrong : {"from=10", "from=0", "from=", "from", "to=1", "from=1&from=2", "from=01", "from=1e0"}) {
    EXPECT_THROW(static_cast<void>(Query(wrong, {"from"}).number("from", 7, 1, 9)), AddressError) << wrong;
  }
}

TEST(Metrics, add_up_threads) {
  Metrics metrics({"select", "reward"}, 2);
  for (int k = 0; k < 98; ++k) metrics.of_thread(static_cast<std::size_t>(k) % 2).of_call[0].count(200, 15us);
  metrics.of_thread(0).of_call[0].count(400, 10us);
  metrics.of_thread(1).of_call[0].count(599, 1h);
  std::string text;
  metrics.append_prometheus(text, Status{}, 1.5);
  for (const char* line : {"goblin_requests_total{call=\"select\",status=\"200\"} 98\n",
                           "goblin_requests_total{call=\"select\",status=\"400\"} 1\n",
                           "goblin_requests_total{call=\"select\",status=\"other\"} 1\n",
                           "goblin_request_seconds_bucket{call=\"select\",le=\"1e-05\"} 1\n",
                           "goblin_request_seconds_bucket{call=\"select\",le=\"2e-05\"} 99\n",
                           "goblin_request_seconds_bucket{call=\"select\",le=\"+Inf\"} 100\n",
                           "goblin_request_seconds_count{call=\"select\"} 100\n", "goblin_uptime_seconds 1.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_EQ(text.find("call=\"reward\""), std::string::npos);
  std::string json = "{";
  metrics.append_requests(json);
  const auto requests = nlohmann::json::parse(json + "}")["requests"];
  EXPECT_EQ(requests["select"]["count"], 100);
  EXPECT_EQ(requests["select"]["errors"], 2);
  EXPECT_NEAR(requests["select"]["p50"], 15e-6, 1e-6);
  EXPECT_NEAR(requests["select"]["p99"], 20e-6, 1e-6);
  const auto times = requests["select"]["times"];  // from, to, how many; only what occurred
  ASSERT_EQ(times.size(), 3);
  EXPECT_EQ(times[0], nlohmann::json::parse("[0.0,1e-5,1]"));
  EXPECT_EQ(times[1], nlohmann::json::parse("[1e-5,2e-5,98]"));
  EXPECT_EQ(times[2][2], 1);
  EXPECT_FALSE(requests.contains("reward"));
}

/// The two ends of a pipe.
struct Pipe {
  Pipe() { static_cast<void>(::pipe2(ends.data(), O_CLOEXEC)); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  std::array<int, 2> ends = {-1, -1};
};

TEST(JsonLog, a_line_is_an_object) {
  const Pipe pipe;
  {
    JsonLog log(pipe.ends[1]);
    log.say(JsonLog::Level::warning, "Say \"this\".", {{"file", "a\nb"}});
  }
  std::string text(1000, '\0');
  text.resize(static_cast<std::size_t>(::read(pipe.ends[0], text.data(), text.size())));
  const auto line = nlohmann::json::parse(text);
  EXPECT_EQ(line["level"], "warning");
  EXPECT_EQ(line["message"], "Say \"this\".");
  EXPECT_EQ(line["file"], "a\nb");
  EXPECT_EQ(line["time"].get<std::string>().size(), std::string("2026-11-16T21:40:57.123Z").size());
  EXPECT_EQ(text.back(), '\n');
}

TEST(JsonLog, ends_soon_when_nobody_reads_it) {
  const Pipe pipe;
  auto log = std::make_unique<JsonLog>(pipe.ends[1]);
  for (int k = 0; k < 2'000; ++k) log->say(JsonLog::Level::info, std::string(100, 'x'));
  auto ended = std::async(std::launch::async, [&] { log.reset(); });
  EXPECT_EQ(ended.wait_for(10s), std::future_status::ready);
  // What can be read are whole lines.
  ::fcntl(pipe.ends[0], F_SETFL, O_NONBLOCK);
  std::string text;
  while (true) {
    std::string piece(1 << 16, '\0');
    const ssize_t count = ::read(pipe.ends[0], piece.data(), piece.size());
    if (count > 0) {
      text += piece.substr(0, static_cast<std::size_t>(count));
    } else if (ended.wait_for(10ms) == std::future_status::ready) {
      break;
    }
  }
  EXPECT_GT(text.size(), 1'000);
  EXPECT_EQ(text.back(), '\n');
}

TEST(JsonLog, whoever_speaks_never_waits_and_what_is_left_out_is_told) {
  Pipe pipe;
  std::string text;
  std::thread reader;
  {
    JsonLog log(pipe.ends[1]);
    std::string block;
    // The pipe takes 64 KiB and the log's memory 1 MiB; nobody reads yet.
    for (int k = 0; k < 3000; ++k) {
      block = std::string(999, 'x') + "\n";
      log.append(block, 1);
    }
    EXPECT_TRUE(block.empty());
    reader = std::thread([&] {
      char bytes[65536];
      for (ssize_t count = 0; (count = ::read(pipe.ends[0], bytes, sizeof bytes)) > 0;) {
        text.append(bytes, static_cast<std::size_t>(count));
      }
    });
  }
  ::close(std::exchange(pipe.ends[1], -1));
  reader.join();
  std::size_t lines = 0;
  std::size_t told = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('{')) {
      told += std::stoul(nlohmann::json::parse(line)["lines"].get<std::string>());
    } else {
      ++lines;
    }
  }
  EXPECT_GT(told, 0);
  EXPECT_EQ(lines + told, 3000);
}

TEST(Workers, take_only_so_much) {
  std::promise<void> may_go_on;
  std::atomic<int> done = 0;
  {
    Workers workers(1, 2);
    auto wait = may_go_on.get_future().share();
    std::promise<void> begun;
    ASSERT_TRUE(workers.take([&, wait] {
      begun.set_value();
      wait.wait();
      ++done;
    }));
    begun.get_future().wait();
    EXPECT_TRUE(workers.take([&] { ++done; }));
    EXPECT_TRUE(workers.take([&] { ++done; }));
    EXPECT_FALSE(workers.take([&] { ++done; }));
    may_go_on.set_value();
  }
  EXPECT_EQ(done, 3) << "what was taken is done before the end";
}

}  // namespace http_parts_test
}  // namespace goblin::serve
