#include "commands.hpp"
#include "goblin/belief/instruction_set.hpp"
#include "goblin/error.hpp"
#include "report.hpp"

#include <exception>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

constexpr int failure = 1;
constexpr int wrong_usage = 2;
constexpr int bad_data = 3;

int complain(int code, const std::exception& error) {
  goblin::app::report(fmt::format("goblin: {}\n", error.what()));
  return code;
}

/// If the program is started with standard input, output or error closed, the next file that it opens would take that
/// place, and be read or written by mistake. So the free places are taken by something that can be neither read nor
/// written.
void occupy_closed_streams() {
  int descriptor = 0;
  do {
    descriptor = ::open("/", O_PATH);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_streams();
  CLI::App app(
      "Contextual bandits over a social graph: what one user's click teaches, the user's friends get to know.");
  app.name("goblin");
  app.set_version_flag(
      "--version", [] { return fmt::format("goblin {} (engines: {})", GOBLIN_VERSION, goblin::instruction_set()); });
  app.require_subcommand(0, 1);
  app.footer("Without a subcommand, goblin plays a worked example. goblin SUBCOMMAND --help has more.");
  goblin::app::add_cluster(app);
  goblin::app::add_data(app);
  goblin::app::add_evaluate(app);
  goblin::app::add_explain(app);
  goblin::app::add_fit(app);
  goblin::app::add_merge(app);
  goblin::app::add_replay(app);
  goblin::app::add_reproduce(app);
  goblin::app::add_serve(app);
  goblin::app::add_simulate(app);
  goblin::app::add_topic(app);
  goblin::app::add_tune(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) goblin::app::run_demo();
  } catch (const CLI::RuntimeError& error) {  // a command's own exit code
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : wrong_usage;
  } catch (const goblin::DataError& error) {
    return complain(bad_data, error);
  } catch (const std::invalid_argument& error) {
    return complain(wrong_usage, error);
  } catch (const std::exception& error) {
    return complain(failure, error);
  }
  return 0;
}
