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
const PROCESS_NAMES: readonly (readonly [name: string, pattern: RegExp])[] = [
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

/** A process of this machine, named after what it does for the platform. */
export interface Process {
  pid: number;
  parent: number;
  name: string;
  cpuSeconds: number;
  /** Of children that have ended: a server's of the connections that were closed. */
  endedSeconds: number;
  residentMiB: number;
}

/** All of the platform's processes, k6 with them; those that end while /proc is read are left out. */
export function readProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        return readProcess(pid);
      } catch {
        return [];
      }
    });
}

function readProcess(pid: string): Process[] {
  const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  if (command === '') return [];
  const role = /(?:^|\0)PROCESS_ROLE=([a-z]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
  const name = PROCESS_NAMES.find(([, pattern]) => pattern.test(`${command} role=${role ?? 'all'}`))?.[0];
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, pages = 0] = [fields[1], fields[11], fields[12], fields[21]];
  const [endedUser = 0, endedSystem = 0] = [fields[13], fields[14]];
  return [
    {
      pid: Number(pid),
      parent,
      name: name ?? '',
      cpuSeconds: (user + system) / TICKS,
      endedSeconds: (endedUser + endedSystem) / TICKS,
      residentMiB: (pages * 4096) / 2 ** 20,
    },
  ];
}

/** The environment that a process of this user was started with; undefined where it has ended, or is another user's. */
export function environmentOf(pid: number): Record<string, string> | undefined {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    return Object.fromEntries(
      entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    );
  } catch {
    return undefined;
  }
}

/** The named processes that descend from `ancestor`, itself not among them. */
export function descendantsOf(ancestor: number, processes: readonly Process[] = readProcesses()): Process[] {
  const family = new Set([ancestor]);
  for (let before = 0; before !== family.size;) {
    before = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  return processes.filter(({ pid, name }) => pid !== ancestor && family.has(pid) && name !== '');
}

/**
 * The process that started the platform whose gateway answers at this address.
 * @throws Error where there is none on this machine
 */
export function starterOf(baseUrl: string): number {
  const { port } = new URL(baseUrl);
  const gateway = readProcesses().find(
    ({ name, pid }) => name === 'gateway' && environmentOf(pid)?.['PORT'] === port,
  );
  if (!gateway) throw new Error(`No gateway of this machine answers at ${baseUrl}.`);
  return gateway.parent;
}

/**
 * CPU and memory by name: of the platform that `starter` started and of k6, or of whatever runs here. A server's CPU
 * holds that of its connections that were closed, so that it never falls.
 */
export function readUsage(starter?: number): Usage {
  const usage: Usage = { cpu: new Map(), resident: new Map() };
  const all = readProcesses();
  const family = starter === undefined ? all : [...descendantsOf(starter, all), ...all.filter(isK6)];
  for (const { name, cpuSeconds, endedSeconds, residentMiB } of family) {
    if (name === '') continue;
    add(usage.cpu, name, cpuSeconds + endedSeconds);
    add(usage.resident, name, residentMiB);
  }
  return usage;
}

function isK6({ name }: Process): boolean {
  return name === 'k6';
}

function add(map: Map<string, number>, name: string, value: number): void {
  map.set(name, (map.get(name) ?? 0) + value);
}
