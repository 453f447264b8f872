import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second, whatever the kernel's own tick. */
const TICKS_A_SECOND = 100;

/**
 * The seconds of processor time that this process has used, and those of its children that have ended (on Linux alone;
 * elsewhere children count nothing).
 */
export function processorSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

function childSeconds() {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND;
}
