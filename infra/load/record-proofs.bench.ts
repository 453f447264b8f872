/**
 * `node infra/load/record-proofs.bench.ts` (after `npm run build`)
 *
 * Prints what the proof of a record costs its writer and its reader on this machine, by how many are signed together, and
 * beside it what a signature or a HMAC for each record would cost. Needs nothing else.
 */
import { createHmac, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto';
import { proofsOf, type ProvenRecord, RecordProofs, signerOf } from '@customer-platform/event-bus';

const ROUNDS = 4_096;
const TOPIC = 'core.domain-events';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
process.env['SERVICE_PRIVATE_KEY'] = JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'core' });
process.env['SERVICE_PUBLIC_KEYS'] = JSON.stringify({
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'core' }],
});
process.env['PLATFORM_MODE'] = 'local';
const signer = signerOf(JSON.parse(process.env['SERVICE_PRIVATE_KEY']) as Parameters<typeof signerOf>[0]);

/** As long as it takes for one of `count`, in microseconds of processor time: the second of two runs. */
function costOf(count: number, run: () => void): string {
  run();
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / count).toFixed(1).padStart(7);
}

function records(count: number, bytes: number): ProvenRecord[] {
  return Array.from({ length: count }, (_, at) => ({
    topic: TOPIC,
    key: `key ${at}`,
    value: randomBytes(bytes / 2).toString('hex'),
  }));
}

function proofs(bytes: number, together: number, count = ROUNDS): void {
  const all = records(count, bytes);
  const runs = Array.from({ length: count / together }, (_, at) =>
    all.slice(at * together, (at + 1) * together),
  );
  let made: Buffer[] = [];
  const proving = costOf(count, () => {
    made = runs.flatMap((run) => proofsOf(run, signer));
  });
  const demanding = costOf(count, () => {
    const reader = new RecordProofs({ module: 'loyalty' });
    all.forEach((record, at) => reader.demand(record, made[at]));
  });
  const size = String(made[0]?.length).padStart(4);
  console.log(
    `${String(bytes).padStart(7)} ${String(together).padStart(9)} ${proving} ${demanding} ${size} bytes`,
  );
}

console.log('µs of processor time a record, one core');
console.log('  bytes  together    prove  demand  proof');
for (const together of [1, 2, 4, 8, 32]) proofs(1_000, together);
proofs(64_000, 4);
proofs(512_000, 4, 256);

const all = records(ROUNDS, 1_000);
const key = randomBytes(32);
const mac = costOf(ROUNDS, () => {
  for (const { value } of all) createHmac('sha256', key).update(value).digest();
});
const signatures = all.map(({ value }) => sign(null, Buffer.from(value), privateKey));
const signing = costOf(ROUNDS, () => {
  for (const { value } of all) sign(null, Buffer.from(value), privateKey);
});
const verifying = costOf(ROUNDS, () => {
  all.forEach(({ value }, at) =>
    verify(null, Buffer.from(value), publicKey, signatures[at] ?? Buffer.alloc(0)),
  );
});
console.log(
  `For comparison, each of 1,000 bytes by itself: HMAC ${mac.trim()}, Ed25519 ${signing.trim()} to sign and ${verifying.trim()} to verify`,
);
