import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresAccount } from './postgres-account.ts';

describe('the account of PostgreSQL', () => {
  let closed: string;
  beforeEach(() => {
    closed = mkdtempSync(join(tmpdir(), 'closed-')); // 0700, as `mktemp -d` makes them
  });
  afterEach(() => rmSync(closed, { recursive: true, force: true }));

  it('finds and runs programs behind a folder that is closed to others', () => {
    const program = join(closed, 'bin', 'program');
    mkdirSync(join(closed, 'bin'));
    // By access(2), as Postgres looks for its own.
    writeFileSync(
      program,
      `#!${process.execPath}\nimport { accessSync } from 'node:fs'; accessSync('${program}'); console.log(process.getuid());`,
    );
    chmodSync(program, 0o755);
    const { uid, gid, prefix } = postgresAccount([program]);
    const [command = '', ...args] = [...prefix, program];
    const account = uid === undefined || gid === undefined ? {} : { uid, gid };
    const ran = execFileSync(command, args, { encoding: 'utf8', ...account });
    expect(Number(ran)).not.toBe(0);
  });
});
