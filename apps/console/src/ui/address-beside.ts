import { useLocation, useRouter } from '@tanstack/react-router';

/** Gives the address of this page with something else open beside its list. */
export function useAddressBeside(): (id: string) => string {
  const { options } = useRouter();
  const { pathname, search } = useLocation();
  return (open) => pathname + options.stringifySearch({ ...search, open });
}
