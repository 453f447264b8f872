/** One request at a receiver, of an event that is about one person. */
interface Receipt {
  endpoint: number;
  person: string;
  webhookId: string;
  /** From the event's own time until it was here. */
  milliseconds: number;
}

/** What was to come and did not come as it was to. */
interface Account {
  expected: number;
  lost: number;
  /** One event told under more than one id: no receiver can know that it is one. */
  doubled: number;
  /** Told again under the same id: after a try that had no answer, or because a process ended before it noted one. */
  repeated: number;
  /** Told of somebody who is none of this endpoint's organization. */
  foreign: number;
}

/** What came to the endpoints, by endpoint and person. */
export class Receipts {
  private readonly ids = new Map<string, Set<string>>();
  private readonly firsts: Receipt[] = [];
  private repeated = 0;

  note(receipt: Receipt): void {
    const key = keyOf(receipt.endpoint, receipt.person);
    const ids = this.ids.get(key);
    if (!ids) this.firsts.push(receipt);
    if (ids?.has(receipt.webhookId)) this.repeated += 1;
    this.ids.set(key, (ids ?? new Set()).add(receipt.webhookId));
  }

  /** Whether all of them have been told of all these people. */
  complete(endpoints: readonly number[], people: readonly string[]): boolean {
    return endpoints.every((endpoint) => people.every((person) => this.ids.has(keyOf(endpoint, person))));
  }

  /** How long first receipts took, shortest first, of those that `chosen` says. */
  latencies(chosen: (receipt: Receipt) => boolean): number[] {
    return this.firsts
      .filter(chosen)
      .map(({ milliseconds }) => milliseconds)
      .sort((one, other) => one - other);
  }

  /** @param expected the people each endpoint was to be told of */
  account(expected: ReadonlyMap<number, readonly string[]>): Account {
    const wanted = new Set(
      [...expected].flatMap(([endpoint, people]) => people.map((person) => keyOf(endpoint, person))),
    );
    const found = [...this.ids];
    return {
      expected: wanted.size,
      lost: [...wanted].filter((key) => !this.ids.has(key)).length,
      doubled: found.filter(([, ids]) => ids.size > 1).length,
      repeated: this.repeated,
      foreign: found.filter(([key]) => !wanted.has(key)).length,
    };
  }
}

const keyOf = (endpoint: number, person: string): string => `${endpoint} ${person}`;
