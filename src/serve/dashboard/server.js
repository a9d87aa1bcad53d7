// Talking to the server that this page came from.

const keyName = "goblin-key";
const patience = 10_000; // milliseconds

/** The server said no: the problem is what it sent (RFC 9457). */
export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.title = problem.title || "";
  }
}

/** There was no answer. */
export class Unreachable extends Error {}

export class Server {
  #askForKey;
  #asking = null;

  /** askForKey(why) gives a promise of a key. It is called when the server wants one, once for all who wait. */
  constructor(askForKey) {
    this.#askForKey = askForKey;
  }

  get usesKey() {
    return this.#key() !== null;
  }

  get(path) {
    return this.#call(path, {});
  }

  post(path, body) {
    return this.#call(path, {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify(body),
    });
  }

  #key() {
    return sessionStorage.getItem(keyName);
  }

  async #call(path, request) {
    for (;;) {
      const key = this.#key();
      const answer = await this.#send(path, request, key);
      if (answer.ok) return answer.json();
      const problem = await answer.json().catch(() => ({}));
      if (answer.status === 401) {
        await this.#newKey(key, key === null ? "" : "The server does not know this key.");
      } else if (answer.status === 403 && key !== null) {
        await this.#newKey(key, "This key may not read. Ask for one with the right \u201cread\u201d.");
      } else {
        throw new Refused(answer.status, problem);
      }
    }
  }

  async #send(path, request, key) {
    const headers = {...request.headers, ...(key === null ? {} : {Authorization: `Bearer ${key}`})};
    try {
      return await fetch(path, {...request, headers, cache: "no-store", signal: AbortSignal.timeout(patience)});
    } catch (error) {
      throw new Unreachable(error.message);
    }
  }

  /** Calls may be refused at the same time: one question for all of them, none if there is another key already. */
  async #newKey(refused, why) {
    if (this.#key() !== refused) return;
    this.#asking ??= this.#askForKey(why).then((key) => {
      sessionStorage.setItem(keyName, key);
      this.#asking = null;
    });
    await this.#asking;
  }
}
