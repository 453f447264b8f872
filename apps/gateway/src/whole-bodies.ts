/** A wait of a caller, and the bytes that are held for it. */
interface Held {
  readonly counted: number;
  readonly network: string;
}

/** Bodies that wait for one module, in the order they came, and their bytes. */
interface OfModule<Wait> {
  readonly waits: Set<Wait>;
  bytes: number;
}

/**
 * Bodies that are all here, or as much of them as is taken ahead, and wait for their module: for a connection, or for its
 * answer. How long that takes is no fault of their callers.
 */
export class WholeBodies<Wait extends Held> {
  private readonly modules = new Map<object, OfModule<Wait>>();
  private readonly moduleOf = new Map<Wait, OfModule<Wait>>();
  private bytes = 0;

  enter(wait: Wait, module: object): void {
    let ofModule = this.modules.get(module);
    if (ofModule === undefined) this.modules.set(module, (ofModule = { waits: new Set(), bytes: 0 }));
    ofModule.waits.add(wait);
    this.moduleOf.set(wait, ofModule);
    this.count(wait, wait.counted);
  }

  leave(wait: Wait): void {
    this.count(wait, -wait.counted);
    this.moduleOf.get(wait)?.waits.delete(wait);
    this.moduleOf.delete(wait);
  }

  /** So many bytes more are held for it. */
  count(wait: Wait, bytes: number): void {
    const ofModule = this.moduleOf.get(wait);
    if (ofModule === undefined) return;
    ofModule.bytes += bytes;
    this.bytes += bytes;
  }

  /**
   * Those that give way where the bodies of a module take more of the room than all such leave free: one slow module has
   * half of it, two a third each, so that callers of the others find some. The last of the networks that hold most of it.
   */
  beyondShareOf(module: object, room: number): Wait[] {
    const ofModule = this.modules.get(module);
    let free = room - this.bytes;
    if (ofModule === undefined || ofModule.bytes <= free) return [];
    const networks = new Map<string, { bytes: number; waits: Wait[] }>();
    for (const wait of ofModule.waits) {
      if (wait.counted === 0) continue;
      const network = networks.get(wait.network) ?? { bytes: 0, waits: [] };
      network.bytes += wait.counted;
      network.waits.push(wait);
      networks.set(wait.network, network);
    }
    const leaving: Wait[] = [];
    let { bytes } = ofModule;
    while (bytes > free) {
      let most: { bytes: number; waits: Wait[] } | undefined;
      for (const network of networks.values()) if (network.bytes > (most?.bytes ?? 0)) most = network;
      const last = most?.waits.pop();
      if (most === undefined || last === undefined) break;
      most.bytes -= last.counted;
      bytes -= last.counted;
      free += last.counted;
      leaving.push(last);
    }
    return leaving;
  }

  /** All of them, those of the module that most wait for first, and of each its last first. */
  *byModules(): Generator<Wait> {
    const modules = [...this.modules.values()].sort((one, other) => other.bytes - one.bytes);
    for (const { waits } of modules) yield* [...waits].reverse();
  }
}
