import { readFileSync, readdirSync } from 'node:fs';

/** Clock ticks a second of /proc/PID/stat; 100 on every Linux this runs on. */
const TICKS = 100;

export interface Usage {
  /** CPU seconds, user and system, since each process began. */
  cpu: Map<string, number>;
  /** Resident memory in MiB. */
  resident: Map<string, number>;
}

/** The platform's processes by the name in their command line, k6 beside them. */
const NAMES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['gateway', /apps\/gateway\/dist\/main/],
  ['core api', /apps\/core\/dist\/main.*role=api/],
  ['core worker', /apps\/core\/dist\/main.*role=worker/],
  ['core', /apps\/core\/dist\/main/],
  ['crm', /apps\/crm\/dist\/main/],
  ['identity', /apps\/identity\/dist\/main/],
  ['messaging', /apps\/messaging\/dist\/main/],
  ['loyalty', /apps\/loyalty\/dist\/main/],
  ['mail catcher', /mail-?catcher/],
  ['kafka', /kafka\.Kafka/],
  ['postgres', /postgres/],
  ['k6', /\bk6 run/],
];

/** Reads /proc once; short-lived Postgres backends that ended in between are missed, which is said in the docs. */
export function readUsage(): Usage {
  const usage: Usage = { cpu: new Map(), resident: new Map() };
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const role = processRole(pid);
      const name = NAMES.find(([, pattern]) => pattern.test(`${command} role=${role}`))?.[0];
      if (name === undefined) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      add(usage.cpu, name, (Number(fields[11]) + Number(fields[12])) / TICKS);
      add(usage.resident, name, (Number(fields[21]) * 4096) / 2 ** 20);
    } catch {
      // The process ended between the listing and the reading.
    }
  }
  return usage;
}

function processRole(pid: string): string {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
  return /(?:^|\0)PROCESS_ROLE=([a-z]+)/.exec(environment)?.[1] ?? 'all';
}

function add(map: Map<string, number>, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}
