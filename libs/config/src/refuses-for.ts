/** Said by a module that refuses a credential as overloaded: for how many milliseconds it would do so again. Callers never see it. */
export const REFUSES_FOR = 'x-refuses-for';
