#pragma once

#include <CLI/CLI.hpp>

/// The subcommands of goblin, one file each. add_NAME adds the subcommand and its options to the application and sets
/// what runs when it is chosen; errors leave as exceptions, which main turns into messages and exit codes.
namespace goblin::app {

void add_cluster(CLI::App& app);
void add_data(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_explain(CLI::App& app);
void add_fit(CLI::App& app);
void add_merge(CLI::App& app);
void add_replay(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_serve(CLI::App& app);
void add_simulate(CLI::App& app);
void add_topic(CLI::App& app);
void add_tune(CLI::App& app);

/// What a bare `goblin` shows: a worked example.
void run_demo();

}  // namespace goblin::app
