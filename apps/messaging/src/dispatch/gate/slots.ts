/** Sends in hand by transport: from their claim until they have ended or been handed over. */
export class Slots {
  private readonly used = new Map<string, number>();
  private readonly capacities = new Map<string, number>();

  /** Notes how many a transport can have in hand. */
  allow(transport: string, capacity: number): void {
    this.capacities.set(transport, capacity);
  }

  free(transport: string): number {
    return Math.max(0, (this.capacities.get(transport) ?? 0) - (this.used.get(transport) ?? 0));
  }

  /**
   * Whether enough places are free that a claim is worth its statements; taking each place as it falls free would claim
   * sends one by one.
   */
  roomy(transport: string, worthwhile: number): boolean {
    return this.free(transport) >= Math.min(worthwhile, Math.max(1, this.capacities.get(transport) ?? 0));
  }

  take(transport: string): void {
    this.used.set(transport, (this.used.get(transport) ?? 0) + 1);
  }

  give(transport: string): void {
    const left = (this.used.get(transport) ?? 0) - 1;
    if (left > 0) this.used.set(transport, left);
    else this.used.delete(transport);
  }
}
