import { Injectable } from '@nestjs/common';
import { Superseded, type Transaction, type WorkerTransaction } from '@customer-platform/database';
import { SegmentIndexes } from './segment-indexes.js';
import {
  NOTHING_DECLARED,
  sameDeclared,
  type DeclaredAttributes,
} from '../vocabulary/attributes/declared-attributes.js';

/** What is declared in several organizations; those that have declared nothing are left out. */
export type DeclaredOfAll = ReadonlyMap<string, DeclaredAttributes>;

/**
 * What is declared of attributes, for whoever writes values. It is kept in memory with the segments, under the one
 * revision that a change of either raises. Writers check by what is declared when they begin and look again when they
 * hold all that they write, under the lock that a change of definitions waits for: it could not be taken before, since
 * what holds it waits for nothing.
 */
@Injectable()
export class DeclaredAttributesReader {
  constructor(private readonly indexes: SegmentIndexes) {}

  /**
   * Writes by what is declared, which then holds until the transaction ends.
   * @throws Superseded where it was changed meanwhile: the transaction begins anew
   */
  async within<T>(tx: Transaction, write: (attributes: DeclaredAttributes) => Promise<T>): Promise<T> {
    const before = await this.now(tx);
    const written = await write(before);
    const after = (await this.indexes.held(tx))?.declared ?? NOTHING_DECLARED;
    if (!sameDeclared(before, after)) throw superseded();
    return written;
  }

  /** As it is now, for readers. */
  async now(tx: Transaction): Promise<DeclaredAttributes> {
    return (await this.indexes.now(tx))?.declared ?? NOTHING_DECLARED;
  }

  /** As it is now; {@link demandSame} is due once all is written. Two statements, however many events there are. */
  async nowOfAll(tx: WorkerTransaction, organizationIds: readonly string[]): Promise<DeclaredOfAll> {
    const indexes = await this.indexes.nowOfAll(tx, organizationIds);
    return new Map([...indexes].map(([id, { declared }]) => [id, declared]));
  }

  /** @throws Superseded where one of these organizations has declared something else since */
  async demandSame(
    tx: WorkerTransaction,
    before: DeclaredOfAll,
    organizationIds: readonly string[],
  ): Promise<void> {
    const after = await this.indexes.heldOfAll(tx, organizationIds);
    const changed = organizationIds.some(
      (id) => !sameDeclared(before.get(id) ?? NOTHING_DECLARED, after.get(id)?.declared ?? NOTHING_DECLARED),
    );
    if (changed) throw superseded();
  }
}

function superseded(): Superseded {
  return new Superseded('The definitions of attributes were changed meanwhile');
}
