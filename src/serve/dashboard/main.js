// The page as a whole: asks the server how it is once a second, and shows the view that the address names.

import {say} from "./elements.js";
import {clock, userAddress} from "./format.js";
import {History} from "./history.js";
import {Overview} from "./overview.js";
import {Refused, Server, Unreachable} from "./server.js";
import {UserPage} from "./user.js";

const every = 1000; // milliseconds
const place = (id) => document.getElementById(id);

function askForKey(why) {
  const dialog = place("key-dialog");
  say(place("key-problem"), why);
  place("key-problem").hidden = why === "";
  place("key").value = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(place("key").value.trim()), {once: true});
  });
}

const server = new Server(askForKey);
const history = new History();
const overview = new Overview(server);
let view = null;
let lastAnswer = null; // when the server last said how it is, in milliseconds

/** "#/users/ann?item=film" as {user, item}; without a user it is the overview. */
function addressed() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [kind, ...name] = path.split("/");
  try {
    const user = kind === "users" ? decodeURIComponent(name.join("/")) : "";
    return {user, item: new URLSearchParams(query).get("item")};
  } catch {
    return {user: "", item: null}; // not an address of this page
  }
}

async function showAddressed() {
  const {user, item} = addressed();
  if (user !== "" && view?.user === user) return view.explain(item);
  view?.leave?.();
  view = user === "" ? overview : new UserPage(server, user);
  document.title = user === "" ? "goblin" : `${user} \u00b7 goblin`;
  place("content").replaceChildren(view.root);
  if (user !== "") {
    view.root.querySelector("h1").focus({preventScroll: true});
    scrollTo(0, 0);
    await view.load(item);
  }
}

/** What is wrong, in a line at the top; nothing if all is well. */
function banner(kind, text) {
  const line = place("banner");
  line.className = kind;
  line.hidden = text === "";
  say(line, text);
}

function showState(state, word) {
  document.body.dataset.state = state;
  say(place("state-word"), word);
}

function showStatus(status) {
  say(place("what"), `${status.policy}, exploring by ${status.exploration}`);
  if (status.trouble) {
    showState("trouble", "trouble");
    banner("bad", `The server has trouble: ${status.trouble}`);
  } else if (!status.ready) {
    showState("starting", "starting");
    banner("soon", `Starting: ${status.learned} of ${Math.max(0, status.end - 1)} records of the log are learned.`);
  } else {
    showState("live", "live");
    banner("", "");
  }
}

function showFailure(error) {
  if (error instanceof Unreachable) {
    const since = lastAnswer === null ? "" : ` since ${clock(lastAnswer)}`;
    const shown = lastAnswer === null ? "" : " What is shown is what it said last.";
    showState("gone", "no answer");
    banner("bad", `The server does not answer${since}. This page tries again every second.${shown}`);
    history.miss(Date.now() / 1000);
  } else if (error instanceof Refused) {
    showState("trouble", "trouble");
    banner("bad", `The server refused: ${error.message}`);
  } else {
    throw error;
  }
}

async function look() {
  try {
    const status = await server.get("v1/status");
    lastAnswer = Date.now();
    history.add(lastAnswer / 1000, status);
    showStatus(status);
    await view.update(status, history.points, lastAnswer / 1000);
  } catch (error) {
    showFailure(error);
  } finally {
    setTimeout(look, every);
  }
}

place("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address behind # is the view's
  place("content").focus();
});
place("key-dialog").addEventListener("cancel", (event) => event.preventDefault()); // nothing can be shown without a key
place("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = place("find-user").value.trim();
  if (name !== "") location.hash = userAddress(name);
  place("find-user").value = "";
});
addEventListener("hashchange", () => showAddressed().catch(showFailure));
showAddressed().catch(showFailure);
look();
