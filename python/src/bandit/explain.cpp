#include "bandit/calls.hpp"
#include "goblin/report/explanation.hpp"

#include <nanobind/stl/string.h>
#include <string>
#include <utility>

namespace goblin::python {
namespace {

nb::object explain(const PythonBandit& self, nb::handle user, nb::handle context, nb::handle k) {
  check_given("explain", "user", user);
  check_given("explain", "x", context);
  const Array<double> x(context, "x");
  x.expect(x.dimensions() == 1 && x.size(0) == self.dimension, "(" + std::to_string(self.dimension) + ",)");
  const std::size_t count = whole_argument(k, "k", 1);
  const NodeId index = self.users.find(user);
  Explanation explained;
  naming(x, [&] { without_gil([&] { explained = self.bandit.explain(index, x.all(), count); }); });

  const bool clustered = has_clusters(asked(self, [](const SharedBandit& it) { return it.policy(); }));
  const auto who = [&](NodeId number) {
    return explained.per_node ? nb::object(nb::int_(number)) : self.users.name(number);
  };
  const report::NameOf name_of = [&](NodeId number) -> std::string {
    if (explained.per_node) return report::name_of_node(number, clustered);
    const nb::object bytes = nb::str(self.users.name(number)).attr("encode")("utf-8", "backslashreplace");
    return nb::cast<std::string>(bytes.attr("decode")("utf-8"));  // names of a model file may be any bytes
  };
  const nb::module_ types = nb::module_::import_("goblin._explanation");
  nb::list contributions;
  for (const Contribution& one : explained.contributions) {
    contributions.append(types.attr("Contribution")(who(one.user), one.value, one.rewards, one.bound));
  }
  nb::list edges;
  for (const Edge& edge : explained.edges) edges.append(nb::make_tuple(who(edge.a), who(edge.b), edge.weight));
  nb::list places;
  for (const ExplanationPlace& one : places_of(explained)) {
    places.append(types.attr("Place")(who(one.user), one.x, one.y, one.value, one.contributes));
  }
  const WidthShares& shares = explained.width_shares;
  return types.attr("Explanation")(
      self.users.name(index), explained.mean, explained.width,
      types.attr("WidthShares")(shares.own, shares.others, shares.prior, shares.unexplained), contributions,
      explained.rest, explained.rest_count, explained.unexplained, explained.per_node,
      std::string(goblin::name_of(explained.engine)), edges, places, report::table(explained, name_of));
}

constexpr const char* explain_doc = R"(Whose rewards the estimate for a context came from.

The estimate ``w_i . x`` is a sum with a term for every user: ``u_j . c_j``, where ``c_j`` is the sum of the user's
contexts times rewards and ``N u = phi_i(x)``. The ``k`` largest terms are listed, the others are ``rest``; together they
are the ``mean``. ``print`` shows a table, ``plot`` draws the users as a graph.

Parameters
----------
user : a user of the bandit; ``KeyError`` if it is none
x : array of shape (dimension,)
k : how many contributions to list, the largest

>>> import goblin
>>> bandit = goblin.GobLin([("ann", "bob"), ("bob", "cat")], dimension=2)
>>> bandit.update("ann", [0.0, 1.0], 1.0)
>>> bandit.update("cat", [0.0, 1.0], -0.5)
>>> explained = bandit.explain("bob", [0.0, 1.0])
>>> print(explained)
mean 0.0714286, width 0.0770796
the width's square: 0.0 % from noise in own rewards, 9.5 % from that in others', 90.5 % from the prior
<BLANKLINE>
user  contribution  rewards
ann       0.142857        1
cat      -0.071429        1
>>> round(explained.mean, 9) == round(sum(one.value for one in explained.contributions), 9)
True
)";

}  // namespace

void bind_explaining(BanditClass& bandit) {
  bandit.def("explain", &explain, needed("user"), needed("x"), nb::arg("k") = 10,
             nb::sig("def explain(self, user: collections.abc.Hashable, x: numpy.typing.ArrayLike, k: int = 10) "
                     "-> goblin._explanation.Explanation"),
             explain_doc);
}

}  // namespace goblin::python
