import { log } from '@customer-platform/http';
import { isAllowedAddress } from '@customer-platform/outbound';

/**
 * In production people come from public addresses. A private one is that of a proxy which the gateway does not know as
 * one (TRUSTED_PROXIES): limits by network would take everybody for one caller then. Told once in the life of a process.
 */
export class PrivateCallers {
  private isTold: boolean;

  constructor(local: boolean) {
    this.isTold = local;
  }

  /** Takes note of a caller that a limit counts by its network. */
  note(ip: string | undefined): void {
    if (this.isTold || (ip !== undefined && isAllowedAddress(ip, false))) return;
    this.isTold = true;
    log.warn(
      'The address of a caller is private, and limits count by it: see TRUSTED_PROXIES and GATEWAY_ADDRESSES',
    );
  }
}
