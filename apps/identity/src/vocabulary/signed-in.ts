/** Who was authenticated and how, before an organization is chosen. */
export interface SignedIn {
  readonly userId: string;
  /** RFC 8176: `pwd`, `otp`, `mfa`; `fed` for a provider that is not ours. */
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  /** When that was at the SSO provider, where it says so: `auth_time` of the tokens, while the session counts from here. */
  readonly authTime?: Date;
  /** The SSO connection that vouches for the user; absent where the platform did. */
  readonly connectionId?: string;
}
