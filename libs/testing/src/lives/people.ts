/** People of one life, who may be the same. */
export const PEOPLE = 3;

/** Somebody of a life, as far as the life has come. */
export interface Person {
  readonly id: string;
  readonly externalId: string;
  readonly email: string;
  /** The letter that the person began with. */
  readonly letterId: string;
  /** The token of the person as a member; it goes on to whom the person is merged into. */
  readonly token: string;
  /** A number that one of them has: merges pass it on, undos give it back. */
  readonly phone?: string;
  /** The one whom each person is merged into, by number. */
  into?: number;
  gone?: 'erased' | 'purged';
  /** Set where a file named the person, and where the contact was deleted: an import makes another of such. */
  imported?: boolean;
  deleted?: boolean;
}

/** The people of a life, each by number, and who is merged into whom. */
export class People {
  private readonly all: Person[] = [];
  /** All with whom each was ever one, by number. */
  private readonly met: Set<number>[] = [];

  add(person: Person): void {
    this.met.push(new Set([this.all.length]));
    this.all.push(person);
  }

  of(person: number): Person {
    const found = this.all[person];
    if (!found) throw new Error('there is no such person');
    return found;
  }

  /** The number of the one with this id. */
  withId(id: string): number {
    return this.all.findIndex((person) => person.id === id);
  }

  /** The number of the one in whom the person is. */
  rootOf(person: number): number {
    const { into } = this.of(person);
    return into === undefined ? person : this.rootOf(into);
  }

  /** The numbers of all who are one with the person. */
  familyOf(person: number): number[] {
    const root = this.rootOf(person);
    return [...this.all.keys()].filter((each) => this.rootOf(each) === root);
  }

  merge(survivor: number, merged: number): void {
    this.of(merged).into = survivor;
    const family = this.familyOf(survivor);
    for (const one of family) for (const other of family) this.met[one]?.add(other);
  }

  part(merged: number): void {
    delete this.of(merged).into;
  }

  list(): readonly Person[] {
    return this.all;
  }

  /** The people who are erased, without those whose identifiers are somebody else's by now. */
  erased(): Person[] {
    return this.all.filter((person) => person.gone === 'erased' && !hasTwin(person));
  }

  /** The texts that nobody may keep of the erased. */
  erasedTexts(): string[] {
    return this.erased().flatMap(({ externalId, email, phone }) => [
      ...[externalId, email],
      ...(phone !== undefined && !this.mayHavePhoneOfOther() ? [phone] : []),
    ]);
  }

  /**
   * Tells whether a file may have given the number to another, who has it then in their own right: to whoever was one with
   * its holder for a time, also where it named the holder, or to anybody once the holder was deleted.
   */
  private mayHavePhoneOfOther(): boolean {
    const holder = this.all.findIndex(({ phone }) => phone !== undefined);
    const met = this.met[holder] ?? new Set();
    return this.all.some(
      ({ imported }, each) =>
        imported === true && (this.all[holder]?.deleted === true || (met.size > 1 && met.has(each))),
    );
  }
}

/**
 * Whether another contact may have the external id by now: it is theirs then, with the events that name it, and is not
 * erased.
 */
export function hasTwin({ imported, deleted }: Person): boolean {
  return imported === true && deleted === true;
}
