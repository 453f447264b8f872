import {
  createHash,
  hash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ConfigError, ownerOfServiceKey, readConfig, recordProofsConfig } from '@customer-platform/config';
import { isWriterOf, ownerOfTopic, UnprovenEvent, type Publisher } from '@customer-platform/events';
import { metrics } from '@customer-platform/http';
import type { KafkaMessage } from 'kafkajs';
import { Counter } from 'prom-client';
import { EVENT_BUS_OPTIONS, type EventBusOptions } from '../event-bus.options.js';
import { decodeProof, encodeProof, type Proof } from './proof-format.js';
import { nodeAbove, treeOf } from './proof-tree.js';

/** The Kafka header with a record's proof. */
export const PROOF_HEADER = 'proof';

/** So many records share a signature. More would lengthen each proof by a hash, for a microsecond or two. */
const SIGNED_AT_ONCE = 32;
/** So many records may be verified before others have their turn: 10 ms where each is signed by itself. */
export const VERIFIED_AT_ONCE = 100;
/** Trees that are remembered: their records come close to each other. */
const REMEMBERED = 256;
/** What is signed is nothing that the same key signs elsewhere (tokens begin otherwise). */
const SIGNED = Buffer.from('customer-platform records\n');

const withoutProof = new Counter({
  name: 'events_without_proof_total',
  help: 'Records that were read without a proof of who wrote them, where none is demanded yet',
  labelNames: ['topic'],
  registers: [metrics],
});

/** What is hashed at one go, and copied for it. */
const COPIED_BYTES = 64 * 1024;

/** What is proven of a record: everything that a consumer acts on. */
export interface ProvenRecord {
  readonly topic: string;
  readonly key: string | undefined;
  readonly value: Buffer | string;
}

/**
 * Proves which module wrote a record, by the keys by which modules know each other (`SERVICE_PRIVATE_KEY`,
 * `SERVICE_PUBLIC_KEYS`): an Ed25519 signature over a tree of the hashes of up to 32 records, and in each record the way
 * from its hash to the root. Brokers, and whoever may write to a topic, can make none.
 */
@Injectable()
export class RecordProofs {
  private readonly module: Publisher;
  private readonly required: boolean;
  private readonly signer: Signer;
  private readonly publicKeys: ReadonlyMap<string, KeyObject>;
  /** Of a signature that was verified: the nodes of its tree that are known, the root among them. */
  private readonly trees = new Map<string, Set<string>>();

  /** @throws ConfigError */
  constructor(@Inject(EVENT_BUS_OPTIONS) { module }: EventBusOptions) {
    const config = readConfig(recordProofsConfig);
    this.module = module;
    this.required = config.EVENTS_REQUIRE_PROOF ?? config.PLATFORM_MODE === 'local';
    this.signer = signerOf(config.SERVICE_PRIVATE_KEY);
    this.publicKeys = new Map(
      config.SERVICE_PUBLIC_KEYS.keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]),
    );
    const shown = this.publicKeys.get(this.signer.kid);
    if (!shown?.equals(createPublicKey(this.signer.key)))
      throw new ConfigError(
        `SERVICE_PUBLIC_KEYS lacks the key of SERVICE_PRIVATE_KEY (${this.signer.kid}): nobody would believe what this module writes.`,
      );
  }

  /** The proofs of these records, in their order; none of a topic that is not this module's to write. */
  prove(records: readonly ProvenRecord[]): (Buffer | undefined)[] {
    const own = records.filter(({ topic }) => isWriterOf(this.module, topic));
    const proofs = new Map(proofsOf(own, this.signer).map((proof, at) => [own[at], proof]));
    return records.map((record) => proofs.get(record));
  }

  /**
   * Refuses a record that none of its topic's writers wrote. One without a proof passes where none is demanded: an
   * instance of the release before gives none. Of topics that no list names nothing is demanded.
   * @returns who wrote it, as far as it is proven
   * @throws UnprovenEvent
   */
  demand(record: ProvenRecord, proof: Buffer | undefined): Publisher | undefined {
    if (ownerOfTopic(record.topic) === undefined) return undefined;
    if (proof !== undefined) return this.writerOf(record, proof);
    if (this.required) throw unproven(record, 'carries no proof of who wrote it');
    withoutProof.inc({ topic: record.topic });
    return undefined;
  }

  private writerOf(record: ProvenRecord, bytes: Buffer): Publisher {
    const proof = decodeProof(bytes);
    if (!proof) throw unproven(record, 'carries a proof that cannot be read');
    const key = this.publicKeys.get(proof.kid);
    if (!key)
      throw unproven(record, `is signed by a key that is not known here: ${JSON.stringify(proof.kid)}`);
    const writer = ownerOfServiceKey(proof.kid) as Publisher;
    if (!isWriterOf(writer, record.topic))
      throw unproven(record, `is signed by ${writer}, who does not write there`);
    if (!this.isSigned(leafOf(record), proof, key)) throw unproven(record, `is not what ${writer} signed`);
    return writer;
  }

  /**
   * Whether the way from the leaf leads to the root that was signed, or to a node of a tree whose signature was verified:
   * of its records most need a hash or two.
   */
  private isSigned(leaf: Buffer, { kid, signature, path }: Proof, key: KeyObject): boolean {
    const name = `${kid} ${signature.toString('latin1')}`;
    const known = this.trees.get(name);
    const seen = new Set<string>();
    let at = leaf;
    for (const step of path) {
      if (known?.has(textOf(at))) break;
      seen.add(textOf(at)).add(textOf(step.hash));
      at = nodeAbove(at, step);
    }
    if (known ? !known.has(textOf(at)) : !verify(null, messageOf(at), key, signature)) return false;
    this.remember(name, seen.add(textOf(at)));
    return true;
  }

  private remember(name: string, nodes: ReadonlySet<string>): void {
    const known = this.trees.get(name);
    if (known) {
      for (const node of nodes) known.add(node);
      return;
    }
    if (this.trees.size >= REMEMBERED) this.trees.clear();
    this.trees.set(name, new Set(nodes));
  }
}

/** A private key and its name. */
interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
}

/** What signs with a service key, given as a JWK. */
export function signerOf(jwk: JsonWebKey & { readonly kid: string }): Signer {
  return { kid: jwk.kid, key: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

/** The proofs of these records by one key, in their order. */
export function proofsOf(records: readonly ProvenRecord[], { kid, key }: Signer): Buffer[] {
  const proofs: Buffer[] = [];
  for (let from = 0; from < records.length; from += SIGNED_AT_ONCE) {
    const { root, paths } = treeOf(records.slice(from, from + SIGNED_AT_ONCE).map(leafOf));
    const signature = sign(null, messageOf(root), key);
    for (const path of paths) proofs.push(encodeProof({ kid, signature, path }));
  }
  return proofs;
}

/** The proof of a record that was read. One that comes with several is as one without. */
export function proofIn({ headers }: Pick<KafkaMessage, 'headers'>): Buffer | undefined {
  const given = headers?.[PROOF_HEADER];
  return Buffer.isBuffer(given) ? given : undefined;
}

function unproven({ topic }: ProvenRecord, reason: string): UnprovenEvent {
  return new UnprovenEvent(`a record of ${topic} ${reason}`);
}

/** The topic, too: what was written to one is nothing on another. A text of JSON holds no line break of its own. */
function leafOf({ topic, key, value }: ProvenRecord): Buffer {
  const head = `leaf\n${JSON.stringify([topic, key?.toWellFormed() ?? null])}\n`;
  if (typeof value === 'string') return hash('sha256', head + value, 'buffer');
  // A hash at one go costs a third of one in parts, where what is hashed is not copied for more than that.
  if (value.length <= COPIED_BYTES)
    return hash('sha256', Buffer.concat([Buffer.from(head), value]), 'buffer');
  return createHash('sha256').update(head).update(value).digest();
}

function textOf(hash: Buffer): string {
  return hash.toString('latin1');
}

function messageOf(root: Buffer): Buffer {
  return Buffer.concat([SIGNED, root]);
}
