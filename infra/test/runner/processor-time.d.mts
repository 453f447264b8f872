/** The seconds of processor time that this process has used, and those of its children that have ended. */
export function processorSeconds(): number;
