// What one user's reward teaches, the user's friends get to know: the smallest complete program.

#include <goblin/bandit/bandit.hpp>

#include <iostream>
#include <vector>

int main() {
  goblin::Names names;
  for (const char* name : {"ann", "bob", "cat"}) names.insert(name);
  const goblin::Graph friends(names, std::vector<goblin::Edge>{{0, 1}});  // ann and bob; cat knows nobody
  auto bandit = goblin::Bandit::gob_lin(friends, {.dimension = 2, .alpha = 0.1});

  const std::vector<double> items = {1.0, 0.0,   // jazz
                                     0.0, 1.0};  // rock
  const auto rock = std::span(items).subspan(2);
  for (int day = 0; day < 20; ++day) bandit.update("ann", rock, 1.0);

  for (const char* user : {"ann", "bob", "cat"}) {
    const goblin::Decision decision = bandit.select(user, {items, 2});
    std::cout << user << ": jazz " << decision.means[0] << ", rock " << decision.means[1] << '\n';
  }
  const bool spread = bandit.mean("bob")[1] > 0.4 && bandit.mean("cat")[1] == 0.0;
  return spread ? 0 : 1;
}
