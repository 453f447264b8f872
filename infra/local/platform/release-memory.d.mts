/** Collects all garbage at once and gives its memory back to the system. */
export function releaseMemory(): void;
