import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How Postgres is run: as who, and through which command. */
interface PostgresAccount {
  uid?: number;
  gid?: number;
  /** Put before the program: what lets another user pass folders closed to it. */
  prefix: string[];
}

const OTHERS_MAY_ENTER = 0o001;
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];

/**
 * Postgres refuses to run as root (in containers and CI that is who we are), so root runs it as `postgres`, else as
 * `nobody`. Where the way to `paths` is closed to others (/root is 0700), it keeps one capability, to pass.
 */
export function postgresAccount(paths: string[]): PostgresAccount {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const { uid, gid } = unprivilegedUser();
  if (paths.every(isOpenToOthers)) return { uid, gid, prefix: [] };
  const setpriv = SETPRIV.find((file) => existsSync(file));
  if (setpriv === undefined) {
    throw new Error(
      `PostgreSQL does not run as root, and the folder ${paths.find((path) => !isOpenToOthers(path)) ?? ''} cannot be entered by another user: run this as an ordinary user, or move the project where everyone may enter (chmod o+x).`,
    );
  }
  const capability = '+dac_override';
  return {
    uid: 0,
    gid: 0,
    prefix: [
      setpriv,
      `--reuid=${uid}`,
      `--regid=${gid}`,
      '--clear-groups',
      // Postgres asks by access(2) whether its programs are there, which else counts no capability of another than root.
      '--securebits=+no_setuid_fixup',
      `--inh-caps=${capability}`,
      `--ambient-caps=${capability}`,
    ],
  };
}

/** Who owns the data folder: Postgres insists that it is the one who runs it. */
export function dataOwner(): { uid: number; gid: number } | undefined {
  return process.getuid?.() === 0 ? unprivilegedUser() : undefined;
}

function unprivilegedUser(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user)
    throw new Error(
      'PostgreSQL does not run as root, and /etc/passwd names neither postgres nor nobody: add one of them.',
    );
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

function isOpenToOthers(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(folder) && !(statSync(folder).mode & OTHERS_MAY_ENTER)) return false;
    if (folder === dirname(folder)) return true;
  }
}
