/** What layering looks at. */
export interface Keyed {
  readonly key: string;
  readonly type: string;
}

/**
 * Cuts a sequence into runs of one type each, such that all events of a key come in their order when the runs are
 * taken one after the other, while as many events as possible share a run. An event's layer is its key's previous
 * layer, one further if the type changes; layers are taken in order, within one the types as they first appeared.
 */
export function layered<T extends Keyed>(events: readonly T[]): T[][] {
  const last = new Map<string, { layer: number; type: string }>();
  const layers: Map<string, T[]>[] = [];
  for (const event of events) {
    const before = last.get(event.key);
    const layer = before ? before.layer + (before.type === event.type ? 0 : 1) : 0;
    last.set(event.key, { layer, type: event.type });
    const runs = (layers[layer] ??= new Map<string, T[]>());
    const run = runs.get(event.type);
    if (run) run.push(event);
    else runs.set(event.type, [event]);
  }
  return layers.flatMap((runs) => [...runs.values()]);
}
