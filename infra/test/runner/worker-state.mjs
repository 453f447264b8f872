/** What a spec file may change of its worker: variables, folder, globals and listeners of the process. */
export function rememberWorker() {
  return {
    variables: { ...process.env },
    folder: process.cwd(),
    globals: Object.getOwnPropertyDescriptors(globalThis),
    listeners: new Map(process.eventNames().map((name) => [name, process.rawListeners(name)])),
  };
}

/**
 * Puts all of it back for the next file. What a file has added to the globals stays: packages keep there what they share
 * (TypeORM its metadata). So do listeners of the worker's end, which end what outlives a file.
 */
export function restoreWorker({ variables, folder, globals, listeners }) {
  for (const name of Object.keys(process.env))
    if (!(name in variables)) Reflect.deleteProperty(process.env, name);
  for (const [name, value] of Object.entries(variables))
    if (process.env[name] !== value) process.env[name] = value;
  if (process.cwd() !== folder) process.chdir(folder);
  for (const name of Reflect.ownKeys(globals)) {
    const now = Object.getOwnPropertyDescriptor(globalThis, name);
    if (now?.value !== globals[name].value || now?.get !== globals[name].get)
      Object.defineProperty(globalThis, name, globals[name]);
  }
  for (const name of process.eventNames()) {
    if (name === 'exit') continue;
    const kept = listeners.get(name) ?? [];
    for (const listener of process.rawListeners(name))
      if (!kept.includes(listener)) process.removeListener(name, listener);
  }
}
