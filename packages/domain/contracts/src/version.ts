/** The version of Headway, as every package has it. Shown by the health routes. */
export const VERSION = '0.1.0';
