// The cap of build A: clips under an igloo, holds sensor and board. Measure your igloo and change the first four numbers.
//
// Printed as it stands, floor down, without support; 0.2 mm layers, three walls. Never printed yet by us.

foot = 60;          // outer diameter of the igloo's foot, mm
foot_height = 4;    // height of the straight part that the rim may hold, mm
gap = 0.3;          // play around the foot; 0.2 holds firmly, 0.4 comes off easily
cable = 4.5;        // diameter of the cable

/* [Boards, with their play] */
module_size = [21, 16, 4];   // an ADXL345 module, pins cut short
board_size = [34, 19, 6];    // a Pro Mini with its wires; a Pico is [52, 22, 6]

/* [The print] */
wall = 1.8;
floor_thick = 1.6;
clips = 6;          // little bumps that hold the foot
bump = 0.5;

$fn = 96;
inner = foot + 2 * gap;
room = max(module_size[2], board_size[2]) + 1;
height = floor_thick + room + foot_height;

// Sensor in the middle, where turning moves it least; board beside it.
module pocket(size, at) {
    translate([at[0] - size[0] / 2, at[1] - size[1] / 2, floor_thick]) cube([size[0], size[1], room + 1]);
}

// Two boards side by side need this much across.
needed = norm([max(module_size[0], board_size[0]), module_size[1] + board_size[1] + 2]);
assert(needed < inner - 2, str("The igloo is too small for these boards: ", needed, " mm are needed."));

shift = (module_size[1] + board_size[1]) / 2 + 2;

difference() {
    cylinder(h = height, d = inner + 2 * wall);
    // the foot's seat
    translate([0, 0, floor_thick + room]) cylinder(h = foot_height + 1, d = inner);
    pocket(module_size, [0, -shift / 2 + module_size[1] / 4]);
    pocket(board_size, [0, shift / 2 + board_size[1] / 4 - 1]);
    // between them, for the six wires
    translate([-4, -4, floor_thick]) cube([8, 12, room + 1]);
    // the cable's way out, with a narrow neck as strain relief
    translate([0, 0, floor_thick + cable / 2]) rotate([-90, 0, 0]) cylinder(h = inner, d = cable);
    translate([-cable / 2 + 0.4, 0, floor_thick + cable / 2]) cube([cable - 0.8, inner, height]);
    // light: the floor away from the boards
    for (a = [200, 250, 290, 340])
        rotate(a) translate([inner / 2 - 7, 0, floor_thick]) cylinder(h = room + 1, d = 9);
}
for (n = [0 : clips - 1])
    rotate(n * 360 / clips + 30) translate([inner / 2, 0, height - 1]) scale([1, 3, 1]) sphere(d = 2 * bump, $fn = 24);
