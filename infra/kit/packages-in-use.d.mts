/** Keeps the packages that this process runs on from being installed anew until it ends. */
export function markInUse(root: string, name: string): Promise<void>;
