/** Who runs on the packages of a checkout, which an installation begins by deleting. No dependency may be imported here. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { claim, holderOf } from './presence.mjs';

/** Of those that run from the packages of a checkout, each a file; and of the one that installs them. */
export function usersFolder(root) {
  const folder = join(root, '.data/in-use');
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  return folder;
}

/** Keeps the packages that this process runs on from being installed anew until it ends. */
export async function markInUse(root, name) {
  await claim(join(usersFolder(root), `${process.pid}.json`), name);
}

/** Who runs on the packages, this process not among them; of one command's processes the first. */
export async function usersOf(root) {
  const folder = usersFolder(root);
  const pids = readdirSync(folder).map((file) => Number(/^(\d+)\.json$/.exec(file)?.[1] ?? process.pid));
  const others = pids.filter((pid) => pid !== process.pid).sort((one, other) => one - other);
  const found = await Promise.all(others.map((pid) => holderOf(join(folder, `${pid}.json`))));
  const holders = found.filter(Boolean);
  return holders
    .filter(({ name }, at) => holders.findIndex((each) => each.name === name) === at)
    .map(described);
}

/** As a sentence names a process. */
export const described = ({ name, pid }) => `${name} (process ${pid})`;
