#include "goblin/bandit/bandit.hpp"

#include "bandit/calls.hpp"

#include <nanobind/stl/string.h>
#include <string>

namespace goblin::python {

namespace {

/// The names of those policies that `wanted` is true of, in the library's order.
template <typename Wanted>
nb::tuple policy_names(Wanted wanted) {
  nb::list names;
  for (const Policy policy : all_policies) {
    if (wanted(policy)) names.append(std::string(name_of(policy)));
  }
  return nb::tuple(names);
}

std::string exploration_of(const std::string& rule, const nb::dict& numbers, nb::handle epsilon) {
  std::string text = rule;
  for (const auto& [name, value] : numbers) {
    text +=
        ':' + nb::cast<std::string>(nb::repr(nb::float_(number_argument(value, nb::cast<std::string>(name).c_str()))));
  }
  text += "+epsilon:" + nb::cast<std::string>(nb::repr(nb::float_(number_argument(epsilon, "epsilon"))));
  return name_of(exploration_named(text));
}

}  // namespace

void bind_bandit(nb::module_& module) {
  module.def(
      "policy_names", [] { return policy_names([](Policy) { return true; }); },
      nb::sig("def policy_names() -> tuple[str, ...]"), "All policies.");
  module.def(
      "clustered_policies", [] { return policy_names(&uses_clusters); },
      nb::sig("def clustered_policies() -> tuple[str, ...]"), "Those that need clusters of the users.");
  module.def(
      "paper_policies", [] { return policy_names([](Policy policy) { return info_of(policy).is_in_paper; }); },
      nb::sig("def paper_policies() -> tuple[str, ...]"), "The paper's five.");
  module.def(
      "coupled_policies",
      [] {
        return policy_names([](Policy policy) {
          return policy == Policy::gob_lin || policy == Policy::gob_lin_macro || policy == Policy::gob_lin_block ||
                 policy == Policy::gob_lin_hub;
        });
      },
      nb::sig("def coupled_policies() -> tuple[str, ...]"), "Those whose beliefs are coupled by edges.");
  module.def(
      "default_options",
      [](const std::string& policy) {
        const Policy kind = policy_named(policy);
        return dict_of(kind, options_of(nb::dict()));
      },
      nb::arg("policy"), nb::sig("def default_options(policy: str) -> dict[str, typing.Any]"),
      "The options that a policy has, and what each is if it is not given.");
  module.attr("default_alpha") = BanditOptions().alpha;
  module.attr("default_buckets") = HashOptions().buckets;
  module.attr("default_hub") = HubOptions().weight;
  module.attr("default_hub_ridge") = HubOptions().ridge;
  module.attr("default_separation") = ClubOptions().separation;
  module.def(
      "exploration_names",
      [] {
        nb::list names;
        for (const ExplorationInfo& info : exploration_table) names.append(std::string(info.name));
        return nb::tuple(names);
      },
      nb::sig("def exploration_names() -> tuple[str, ...]"), "All rules of exploration.");
  module.def("exploration", &exploration_of, nb::arg("rule"), nb::arg("numbers"), nb::arg("epsilon").none(),
             nb::sig("def exploration(rule: str, numbers: collections.abc.Mapping[str, float], epsilon: float) -> str"),
             "The text of a rule with its numbers, once they are checked.");

  BanditClass bandit(module, "Bandit", nb::is_weak_referenceable(),
                     "What all policies can do; goblin.Bandit is the class to use.");
  bind_making(bandit);
  bind_deciding(bandit);
  bind_explaining(bandit);
  bind_learning(bandit);
  bind_editing(bandit);
  bind_inspecting(bandit);
  bind_keeping(bandit);
}

}  // namespace goblin::python
