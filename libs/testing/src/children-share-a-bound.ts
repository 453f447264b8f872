/** An organization as whoever bounds what goes on at once looks at it. */
interface Asking {
  readonly organizationId: string;
  readonly organization: {
    readonly id: string;
    readonly status: 'active';
    readonly settings: object;
    readonly tenant_id: string;
  };
}

/**
 * Has as many children of one tenant as it has places ask for one each, and one more: that one is refused, whoever of
 * another tenant asks is not, and one organization alone leaves its siblings a place.
 * @param begin asks for a place, all of them before the first gives its own back
 */
export async function expectChildrenShare(
  bounds: { readonly ofTenant: number; readonly ofOrganization: number },
  begin: (asking: Asking) => Promise<unknown>,
  end: () => void = () => undefined,
): Promise<void> {
  const child = (at: number, tenant = 'tenant'): Asking => {
    const id = `${tenant}-${String(at)}`;
    return { organizationId: id, organization: { id, status: 'active', settings: {}, tenant_id: tenant } };
  };
  const children = Array.from({ length: bounds.ofTenant + 1 }, (_, at) => begin(child(at)));
  const settled = Promise.allSettled([...children, begin(child(0, 'other'))]);
  end();
  const outcomes = (await settled).map(({ status }) => status);
  const refused = outcomes.flatMap((status, at) => (status === 'rejected' ? [at] : []));
  expect(refused).toEqual([bounds.ofTenant]);
  expect(bounds.ofOrganization).toBeLessThan(bounds.ofTenant);
}
